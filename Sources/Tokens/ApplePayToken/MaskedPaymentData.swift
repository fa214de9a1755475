public import StrictJSON

extension PaymentData {
  /// The decrypted payment data for display: Apple's keys, with only harmless values in clear. An account number keeps
  /// its last four digits; the value of an unknown key is masked.
  public var masked: JSONValue { Self.masked(revealed, key: "") }

  private static let harmless: Set<String> = [
    "applicationExpirationDate", "currencyCode", "transactionAmount", "deviceManufacturerIdentifier", "paymentDataType",
    "eciIndicator", "merchantIdentifier",
  ]

  private static func masked(_ value: JSONValue, key: String) -> JSONValue {
    switch value {
    case .object(let object):
      var copy = JSONObject()
      for (key, value) in object.members { copy[key] = masked(value, key: key) }
      return .object(copy)
    case .array(let elements): return .array(elements.map { masked($0, key: key) })
    case .string(let text) where key == "applicationPrimaryAccountNumber": return .string("•••• \(text.suffix(4))")
    case _ where harmless.contains(key): return value
    case .null, .bool: return value
    case .integer, .number, .string: return .string("•••")
    }
  }
}
