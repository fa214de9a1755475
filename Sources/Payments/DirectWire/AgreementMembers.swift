import StrictJSON

/// The members by which a request of Worldline's begins an agreement. Where nothing reads them they are refused: the payment
/// would be taken, and its agreement would be missing.
enum AgreementMembers {
  private static let names: Set<String> = ["agreement", "isRecurring", "recurring"]
  private static let (input, product) = ("mobilePaymentMethodSpecificInput", "paymentProduct302SpecificInput")
  private static let page = "hostedCheckoutSpecificInput"

  /// - Parameter decoder: of a whole request.
  static func requirePlaces(_ decoder: any Decoder) throws {
    guard let body = try? JSONValue(from: decoder), let path = misplaced(in: body, of: nil) else { return }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: decoder.codingPath + path.map { AnyKey(stringValue: $0) as any CodingKey },
        debugDescription: "is read in \(input).\(product) alone"))
  }

  /// - Parameter parent: the name of the member that the value is; nil for the request.
  private static func misplaced(in value: JSONValue, of parent: String?) -> [String]? {
    switch value {
    case .object(let object):
      for (name, member) in object.members {
        if parent == input && name == product || parent == nil && name == page { continue }
        if names.contains(name), begins(member) { return [name] }
        if let path = misplaced(in: member, of: name) { return [name] + path }
      }
      return nil
    case .array(let elements): return elements.lazy.compactMap { misplaced(in: $0, of: "") }.first
    case .null, .bool, .integer, .number, .string: return nil
    }
  }

  private static func begins(_ value: JSONValue) -> Bool {
    switch value {
    case .bool(let isTrue): isTrue
    case .string(let text): text.lowercased() == "true"
    case .object: true
    case .null, .integer, .number, .array: false
    }
  }
}
