import TenderPayments

/// Recognises what is given in place of a private key in PEM, and names the line that makes a key of it.
///
/// No reason holds a byte of the file.
package enum KeyFileMistakes {
  /// The mistake in a file; nil for one that may be PEM, or a private key in DER.
  package static func find(in bytes: [UInt8]) -> PaymentTokenError? {
    guard bytes.contains(where: { $0 > 0x20 }) else {
      return PaymentTokenError(.unreadableKey, "the private key's file is empty")
    }
    if let other = other(bytes) { return other }
    guard !isDER(bytes) else { return nil }
    let isText = String(validating: bytes, as: UTF8.self) != nil
    if !isText, let bare = bare(bytes, "raw", "cat") { return bare }
    if bytes.starts(with: [0x1F, 0x8B]) {
      return PaymentTokenError(.unreadableKey, "the file is compressed by gzip; \(convert("gunzip -c <"))")
    }
    let isWide = bytes.prefix(64).count { $0 == 0 } > 24
    if isWide || [[0xFF, 0xFE], [0xFE, 0xFF]].contains(where: { bytes.starts(with: $0) }) {
      return PaymentTokenError(.unreadableKey, "the file is in UTF-16; \(convert("iconv -f UTF-16 -t UTF-8"))")
    }
    return isText ? nil : PaymentTokenError(.unreadableKey, "the file is neither text nor DER")
  }

  /// What a text without a block of PEM is.
  static func find(in text: String) -> PaymentTokenError {
    let letters = text.utf8.filter { $0 > 0x20 && $0 != UInt8(ascii: ":") }
    let digits = String(decoding: letters.dropFirst(letters.starts(with: "0x".utf8) ? 2 : 0), as: UTF8.self)
    if text.contains("\"kty\"") {
      return text.contains("\"keys\"")
        ? PaymentTokenError(.unreadableKey, "the file is a set of JSON Web Keys; \(jsonWebKey(".keys[0]"))")
        : PaymentTokenError(.unreadableKey, "the file is a JSON Web Key; \(jsonWebKey(""))")
    }
    if text.hasPrefix("PuTTY-User-Key-File") {
      return PaymentTokenError(.unreadableKey, "the file is a key of PuTTY for SSH, which no certificate is made for")
    }
    if let bytes = Hex.decode(digits) { return encoded(bytes, "hexadecimal", "xxd -r -p") }
    if let bytes = base64(digits) { return encoded(bytes, "base64", "base64 -d") }
    guard !text.contains("PRIVATE KEY") else {
      return PaymentTokenError(
        .unreadableKey,
        "the file names a private key, but no line “-----BEGIN PRIVATE KEY-----” with five hyphens on each side; copy "
          + "the key as plain text, with its first and last line")
    }
    return PaymentTokenError(.unreadableKey, "no private key here; give exactly one")
  }

  /// Why a block of PEM with this content is not taken.
  static func key(label: String, der: [UInt8], bitsOfRSA: Int?) -> PaymentTokenError {
    let wanted = "and not of P-256 or RSA of 2048 bits"
    let reason =
      if label.hasPrefix("OPENSSH") {
        "the key is in OpenSSH's own format; convert a copy of it: ssh-keygen -p -m PEM -f key.pem"
      } else if der.isEmpty {
        PEM.noBase64
      } else if !isDER(der) {
        "the private key does not have the length that it states: something cut or changed it"
      } else if let bitsOfRSA {
        "the private key is RSA of \(bitsOfRSA) bits, \(wanted)"
      } else if let other = otherKinds.first(where: { der.firstRange(of: $0.identifier) != nil }) {
        "the private key is of \(other.name), \(wanted)"
      } else {
        "the private key is damaged, or of another kind, \(wanted)"
      }
    return PaymentTokenError(.unreadableKey, reason)
  }

  /// The private key's number and the public key beside it are of two key pairs.
  static let twoKeys = PaymentTokenError(
    .unreadableKey, "the private key does not fit the public key in its own file: something changed it")

  /// Object identifiers of RFC 5480, SEC 2 and RFC 8410, with their tags.
  private static let otherKinds: [(identifier: [UInt8], name: String)] = [
    ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22], "P-384"), ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23], "P-521"),
    ([0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x0A], "secp256k1"), ([0x06, 0x03, 0x2B, 0x65, 0x70], "Ed25519"),
    ([0x06, 0x03, 0x2B, 0x65, 0x6E], "X25519"),
  ]

  private static func convert(_ command: String) -> String { "convert it: \(command) key > key.pem" }

  private static func jsonWebKey(_ member: String) -> String {
    "convert it: node -e 'console.log(crypto.createPrivateKey({format: \"jwk\", key: require(\"./key.json\")\(member)})"
      + ".export({type: \"pkcs8\", format: \"pem\"}))' > key.pem"
  }

  /// The number of 32 bytes, or behind the point of X9.63 as Apple's frameworks export it. The line makes RFC 5915 §3 of
  /// it: version 1, the number, and P-256 as parameters.
  private static func bare(_ bytes: [UInt8], _ encoding: String, _ command: String) -> PaymentTokenError? {
    let isWithPoint = bytes.count == 97 && bytes.first == 4
    guard isWithPoint || bytes.count == 32 else { return nil }
    let what = isWithPoint ? "number behind its public key (x963Representation)" : "number alone"
    return PaymentTokenError(
      .unreadableKey,
      "the file holds a private key's \(what), \(encoding), without its curve; convert it: "
        + "(printf 30310201010420; \(command) key | tail -c 32 | xxd -p -c 32; printf a00a06082a8648ce3d030107)"
        + " | xxd -r -p | openssl ec -inform der -out key.pem")
  }

  private static func encoded(_ bytes: [UInt8], _ encoding: String, _ command: String) -> PaymentTokenError {
    if let bare = bare(bytes, "in \(encoding)", command) { return bare }
    if bytes.firstRange(of: Array("-----BEGIN ".utf8)) != nil {
      return PaymentTokenError(.unreadableKey, "the file is PEM in \(encoding); \(convert(command))")
    }
    if let other = other(bytes) {
      let name = other.code == .pkcs12File ? "file.p12" : "key.der"
      return PaymentTokenError(
        other.code, "the file is in \(encoding); decode it first: \(command) key > \(name); then \(other.reason)")
    }
    guard isDER(bytes) else {
      return PaymentTokenError(.unreadableKey, "the file is \(encoding), and what is in it is no key")
    }
    return PaymentTokenError(
      .unreadableKey,
      "the file is DER in \(encoding), as PEM has it between its marks; convert it: \(command) key | openssl pkey "
        + "-inform der -out key.pem")
  }

  private static func isDER(_ bytes: [UInt8]) -> Bool {
    (try? BERReader.only(bytes[...], BERTag.sequence, .der, "a key")) != nil
  }

  private static func base64(_ digits: String) -> [UInt8]? {
    let standard = digits.filter { $0 != "=" }.replacing("-", with: "+").replacing("_", with: "/")
    guard standard.utf8.count >= 40 else { return nil }
    return Base64.decode(standard + String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4))
  }

  /// DER that is something else than a private key without a passphrase.
  private static func other(_ bytes: [UInt8]) -> PaymentTokenError? {
    if isPKCS12(bytes) { return PaymentTokenError(.pkcs12File, "the file is PKCS #12, as Keychain Access exports it") }
    guard (try? Certificate(der: bytes[...])) == nil else {
      return PaymentTokenError(.notAPrivateKey, "the file holds a certificate, and no private key")
    }
    guard var fields = try? BERReader.only(bytes[...], BERTag.sequence, .der, "a file").children(.der),
      (try? fields.nextIf(BERTag.sequence)) != nil
    else { return nil }
    switch fields.nextTag {
    case BERTag.bitString?: return PaymentTokenError(.notAPrivateKey, "the file holds a public key, and no private key")
    case BERTag.octetString?:
      return PaymentTokenError(
        .encryptedKey,
        "the private key has a passphrase, and is in DER: openssl pkey -inform der -in key.der -out plain.pem")
    default: return nil
    }
  }

  /// RFC 7292 §4: a SEQUENCE of version 3 and a ContentInfo.
  private static func isPKCS12(_ bytes: [UInt8]) -> Bool {
    guard var fields = try? BERReader.only(bytes[...], BERTag.sequence, .ber, "a file").children(.ber),
      let version = try? fields.next(BERTag.integer, "its version"), version.content.elementsEqual([3]),
      let content = try? fields.next(BERTag.sequence, "its content")
    else { return false }
    return content.content.first == BERTag.objectIdentifier
  }
}
