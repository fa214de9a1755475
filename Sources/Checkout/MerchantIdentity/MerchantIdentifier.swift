import Crypto
import TenderPayments

/// Apple's name for a merchant, made in the developer account: `merchant.` and a reverse domain name.
///
/// Platforms that Apple has approved get names that begin `platformintegrator.` instead. It never expires, and it is
/// not Tender's ``TenderPayments/MerchantID``.
package struct MerchantIdentifier: Sendable, Hashable, CustomStringConvertible {
  package let text: String
  /// SHA-256 of the name. Certificates carry it, and the key that opens a payment token is derived with it.
  package let hash: [UInt8]

  package init(_ text: String) throws(MerchantIdentityError) {
    guard Self.isWellFormed(text) else {
      throw MerchantIdentityError(
        .badMerchantIdentifier, "“\(text.prefix(80))” is not a merchant identifier.",
        advice: "Take the identifier from the developer account as it stands: merchant.com.example.shop.")
    }
    self.text = text
    self.hash = Array(SHA256.hash(data: Array(text.utf8)))
  }

  /// The name of a merchant that a platform has registered, in the place of an identifier of its own.
  package init(_ partner: PartnerMerchant) {
    text = partner.identifier
    hash = Array(SHA256.hash(data: Array(text.utf8)))
  }

  /// The hash as Apple writes it in certificates, sessions and error messages.
  package var uppercaseHexHash: String { Hex.encode(hash).uppercased() }

  package var description: String { text }

  private static func isWellFormed(_ text: String) -> Bool {
    guard text.utf8.count <= 255, let dot = text.firstIndex(of: "."),
      ["merchant", "platformintegrator"].contains(text[..<dot])
    else { return false }
    return text[dot...].dropFirst().split(separator: ".", omittingEmptySubsequences: false).allSatisfy(isLabel)
  }

  private static func isLabel(_ label: Substring) -> Bool {
    !label.isEmpty
      && label.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }
}

/// The shop's name as the shopper reads it in the sheet: 1 to 64 characters, the same in every language.
package struct DisplayName: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) throws(MerchantIdentityError) {
    guard (1...64).contains(text.unicodeScalars.count),
      text.unicodeScalars.allSatisfy({ !Self.controls($0) }), text.unicodeScalars.contains(where: \.isVisible)
    else {
      throw MerchantIdentityError(
        .badDisplayName,
        "The display name must have 1 to 64 characters, of which one can be seen, and none that controls a terminal, a line "
          + "or a direction, or hides a text.",
        advice: "Use the shop's name as it stands on the shopper's statement.")
    }
    self.text = text
  }

  /// A control character, a line's end, a mark that turns the direction of what follows, or a letter of the tags, which
  /// hold a text that nobody sees.
  private static func controls(_ scalar: Unicode.Scalar) -> Bool {
    [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
      || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
      || (0xE0000...0xE007F).contains(scalar.value)
  }

  package var description: String { text }
}

/// The ten letters and digits of a developer account, which identify an app as a domain identifies a web page.
package struct TeamIdentifier: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) throws(MerchantIdentityError) {
    let allowed = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) }
    guard text.utf8.count == 10, text.utf8.allSatisfy(allowed) else {
      throw MerchantIdentityError(
        .badTeamIdentifier, "“\(text.prefix(40))” is not a team identifier.",
        advice: "It has ten capital letters and digits and stands in the developer account under Membership.")
    }
    self.text = text
  }

  package var description: String { text }
}

/// A merchant by the platform's name for it.
package struct PartnerMerchant: Sendable, Hashable {
  /// `partnerInternalMerchantIdentifier`: the `merchantIdentifier` of its merchant sessions.
  package let identifier: String
  package let name: String
  package let url: String?

  /// - Throws: ``RegistrationError`` for an identifier that Apple does not take.
  package init(identifier: String, name: String, url: String? = nil) throws(RegistrationError) {
    let marks = Array("~-_+&@$!|,.;".utf8)
    let allowed = identifier.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || marks.contains(byte)
    }
    guard (3...1_024).contains(identifier.utf8.count), allowed else {
      throw RegistrationError(
        .registrationRefused, "Apple takes names of merchants of 3 to 1,024 letters, digits and ~-_+&@$!|,.; alone.")
    }
    (self.identifier, self.name, self.url) = (identifier, name, url)
  }
}
