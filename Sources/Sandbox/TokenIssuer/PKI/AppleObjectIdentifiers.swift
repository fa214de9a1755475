import SwiftASN1

/// The object identifiers by which Apple marks its certificates.
///
/// Source: Apple, *Payment token format reference*; the merchant hash's was read off issued certificates.
enum AppleObjectIdentifier {
  /// On the leaf that signs payment tokens and merchant sessions.
  static let tokenSigner: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 29]
  /// On the intermediate that issues such leaves.
  static let applicationIntegration: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 14]
  /// On a merchant's certificates: the merchant identifier's hash as text.
  static let merchantHash: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 32]
  /// The attribute `UID` of a name (RFC 4519 §2.39).
  static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
}
