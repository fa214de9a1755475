import StrictJSON
import TokenIssuer

/// A contact as Apple Pay JS spells it (`ApplePayPaymentContact`).
package struct SandboxContact: Sendable, Hashable, Identifiable {
  /// What a call names it by: `gb-london`.
  package let id: String
  /// What a person reads: `London, United Kingdom`.
  package let label: String
  package var phoneNumber: String?
  package var emailAddress: String?
  package var givenName: String?
  package var familyName: String?
  package var phoneticGivenName: String?
  package var phoneticFamilyName: String?
  package var addressLines: [String]?
  package var subLocality: String?
  package var locality: String?
  package var postalCode: String?
  package var administrativeArea: String?
  package var country: String?
  /// ISO 3166, two capital letters.
  package var countryCode: String?
}

extension SandboxContact {
  /// What the merchant sees before the shopper authorizes: where goods would go, not to whom.
  ///
  /// No name, street, phone or e-mail. Of the postal code the five digits of the area remain in the United States, and
  /// all but the last three characters in the United Kingdom and Canada.
  package var redacted: SandboxContact {
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
