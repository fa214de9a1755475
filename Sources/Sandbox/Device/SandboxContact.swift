import StrictJSON

/// A contact as Apple Pay JS spells it (`ApplePayPaymentContact`).
public struct SandboxContact: Sendable, Hashable, Identifiable {
  /// What a call names it by: `gb-london`.
  public let id: String
  /// What a person reads: `London, United Kingdom`.
  public let label: String
  public var phoneNumber: String?
  public var emailAddress: String?
  public var givenName: String?
  public var familyName: String?
  public var phoneticGivenName: String?
  public var phoneticFamilyName: String?
  public var addressLines: [String]?
  public var subLocality: String?
  public var locality: String?
  public var postalCode: String?
  public var administrativeArea: String?
  public var country: String?
  /// ISO 3166, two capital letters.
  public var countryCode: String?
}

extension SandboxContact {
  /// What the merchant sees before the shopper authorizes: where goods would go, not to whom.
  ///
  /// No name, street, phone or e-mail. Of the postal code the five digits of the area remain in the United States, and
  /// all but the last three characters in the United Kingdom and Canada.
  public var redacted: SandboxContact {
    SandboxContact(
      id: id, label: label, subLocality: subLocality, locality: locality, postalCode: redactedPostalCode,
      administrativeArea: administrativeArea, country: country, countryCode: countryCode)
  }

  private var redactedPostalCode: String? {
    guard let code = postalCode else { return nil }
    switch countryCode?.uppercased() {
    case "US": return String(code.prefix(5))
    case "GB", "CA":
      let outward = code.dropLast(3)
      return String(outward.reversed().drop { $0 == " " }.reversed())
    default: return code
    }
  }

  /// Apple's members, those without a value left out.
  var members: JSONValue {
    JSONObject.of([
      "phoneNumber": phoneNumber.map(JSONValue.string), "emailAddress": emailAddress.map(JSONValue.string),
      "givenName": givenName.map(JSONValue.string), "familyName": familyName.map(JSONValue.string),
      "phoneticGivenName": phoneticGivenName.map(JSONValue.string),
      "phoneticFamilyName": phoneticFamilyName.map(JSONValue.string),
      "addressLines": addressLines.map { .array($0.map(JSONValue.string)) },
      "subLocality": subLocality.map(JSONValue.string), "locality": locality.map(JSONValue.string),
      "postalCode": postalCode.map(JSONValue.string), "administrativeArea": administrativeArea.map(JSONValue.string),
      "country": country.map(JSONValue.string), "countryCode": countryCode.map(JSONValue.string),
    ])
  }
}
