import ApplePayToken
import StrictJSON
import TenderPayments

/// Members of the token that are missing, of another type, or written in another encoding.
extension TokenVariant {
  static let brokenFields: [TokenVariant] =
    ["version", "data", "signature", "header"].map { key in
      .refused("missing-\(key)", .missingField, "There is no \(key).") { $0.document { $0[key] = nil } }
    }
    + ["ephemeralPublicKey", "publicKeyHash", "transactionId"].map { key in
      .refused("missing-\(key)", .missingField, "There is no header.\(key).") {
        $0.document { $0.header { $0[key] = nil } }
      }
    } + wrongVersions + wrongTypes + wrongBase64 + wrongHex + wrongLengths

  private static let wrongVersions: [TokenVariant] = [
    .refused("version-2", .unknownVersion, "EC_v2 is not known.") { $0.document { $0["version"] = "EC_v2" } },
    .refused("version-lowercase", .unknownVersion, "Versions are compared letter by letter.") {
      $0.document { $0["version"] = "ec_v1" }
    },
    .refused("version-space", .unknownVersion, "A space after the version.") {
      $0.document { $0["version"] = "EC_v1 " }
    },
    .refused("version-rsa", .wrongKeyMaterial, "RSA_v1 with an ephemeral key.") {
      $0.document { $0["version"] = "RSA_v1" }
    },
    .refused("rsa-version-ec", .wrongKeyMaterial, "EC_v1 with a wrapped key.") {
      $0.document { $0["version"] = "EC_v1" }
    },
    .refused("both-key-materials", .wrongKeyMaterial, "An ephemeral key and a wrapped key: one was not signed.") {
      $0.document { $0.header { $0["wrappedKey"] = "AAAA" } }
    },
  ]

  private static let wrongTypes: [TokenVariant] = [
    .refused("version-number", .wrongType, "The version is a number.") { $0.document { $0["version"] = 1 } },
    .refused("data-null", .wrongType, "The data is null.") { $0.document { $0["data"] = .null } },
    .refused("data-array", .wrongType, "The data is an array of bytes.") { $0.document { $0["data"] = [1, 2, 3] } },
    .refused("header-array", .wrongType, "The header is an array.") { $0.document { $0["header"] = [] } },
    .refused("header-encoded", .wrongType, "The header is a string with the object's JSON.") {
      $0.document { document in
        document["header"] = .string(String(decoding: (document["header"] ?? .null).serialized(), as: UTF8.self))
      }
    },
    .refused("transaction-id-number", .wrongType, "The transaction identifier is a number.") {
      $0.document { $0.header { $0["transactionId"] = 7 } }
    },
    .refused("application-data-empty-object", .wrongType, "The application data is an object.") {
      $0.document { $0.header { $0["applicationData"] = [:] } }
    }.decidingApplicationData(),
  ]

  private static let wrongBase64: [TokenVariant] = [
    .refused("base64url-data", .base64URL, "The data in the URL alphabet.") {
      $0.document { $0.editText("data") { String($0.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) } }
    },
    .refused("base64-line-breaks", .badBase64, "The data broken into lines of 76.") {
      $0.document { $0.editText("data") { "\($0.prefix(76))\r\n\($0.dropFirst(76))" } }
    },
    .refused("base64-leading-space", .badBase64, "A space before the signature.") {
      $0.document { $0.editText("signature") { " " + $0 } }
    },
    .refused("base64-without-padding", .badBase64, "The key's hash without its padding.") {
      $0.document { $0.header { $0.editText("publicKeyHash") { String($0.dropLast()) } } }
    },
    .refused("base64-too-much-padding", .badBase64, "Padding that pads nothing.") {
      $0.document { $0.editText("data") { $0 + "====" } }
    },
    .refused("base64-padding-inside", .badBase64, "Two texts of base64, one after the other.") {
      $0.document { $0.editText("data") { "AA==" + $0 } }
    },
    .refused("base64-unused-bits", .badBase64, "Bits set that stand for nothing: a second spelling of the same bytes.")
    {
      $0.document { $0.header { $0.editText("publicKeyHash") { Self.withUnusedBits($0) } } }
    },
    .refused("base64-hex", .badBase64, "The data in hexadecimal, of odd length.") {
      $0.document { $0["data"] = "abcde" }
    },
  ]

  private static let wrongHex: [TokenVariant] = [
    .refused("transaction-id-short", .wrongLength, "62 digits.") {
      $0.document { $0.header { $0.editText("transactionId") { String($0.dropLast(2)) } } }
    },
    .refused("transaction-id-long", .wrongLength, "66 digits.") {
      $0.document { $0.header { $0.editText("transactionId") { $0 + "00" } } }
    },
    .refused("transaction-id-not-hex", .badHex, "A digit that is none.") {
      $0.document { $0.header { $0.editText("transactionId") { "g" + $0.dropFirst() } } }
    },
    .refused("transaction-id-prefixed", .badHex, "0x before the digits.") {
      $0.document { $0.header { $0.editText("transactionId") { "0x" + $0.dropFirst(2) } } }
    },
    .refused("transaction-id-wide-digits", .wrongLength, "Digits of another script, which are no hexadecimal.") {
      $0.document { $0.header { $0.editText("transactionId") { "０" + $0.dropFirst() } } }
    },
    .refused(
      "application-data-base64", .wrongLength, "The application data's hash in base64, where Apple has hexadecimal."
    ) {
      $0.applicationDataHash = $0.random.next(32)
      $0.document {
        $0.header { $0.editText("applicationData") { Base64.encode(Hex.decode($0) ?? []) } }
      }
    }.decidingApplicationData(),
    .refused("application-data-not-hex", .badHex, "A digit of the application data that is none.") {
      $0.applicationDataHash = $0.random.next(32)
      $0.document { $0.header { $0.editText("applicationData") { "z" + $0.dropFirst() } } }
    }.decidingApplicationData(),
    .refused("application-data-empty", .wrongLength, "An empty application data, where none has no key.") {
      $0.document { $0.header { $0["applicationData"] = "" } }
    }.decidingApplicationData(),
  ]

  private static let wrongLengths: [TokenVariant] = [
    .refused("data-empty", .wrongLength, "No data.") { $0.document { $0["data"] = "" } },
    .refused("signature-empty", .wrongLength, "No signature.") { $0.document { $0["signature"] = "" } },
    .refused("data-too-long", .wrongLength, "300 kB of data, a thousand times what a token has.") {
      $0.document { $0["data"] = .string(String(repeating: "AAAA", count: 100_000)) }
    },
    .refused("signature-too-long", .wrongLength, "17 kB of signature.") {
      $0.document { $0["signature"] = .string(String(repeating: "AAAA", count: 5_700)) }
    },
    .refused("text-too-long", .notJSON, "Half a megabyte.") {
      $0.document { $0["data"] = .string(String(repeating: "AAAA", count: 132_000)) }
    },
    .refused("key-hash-short", .wrongLength, "A hash of 31 bytes.") {
      $0.document { $0.header { $0["publicKeyHash"] = .string(Base64.encode([UInt8](repeating: 7, count: 31))) } }
    },
    .refused("key-hash-sha1", .wrongLength, "A hash of 20 bytes.") {
      $0.document { $0.header { $0["publicKeyHash"] = .string(Base64.encode([UInt8](repeating: 7, count: 20))) } }
    },
    .refused("ephemeral-key-too-long", .wrongLength, "An ephemeral key of 1.5 kB.") {
      $0.document { $0.header { $0["ephemeralPublicKey"] = .string(String(repeating: "AAAA", count: 512)) } }
    },
  ]

  /// The last digit before one sign of padding carries four bits and two that must be zero.
  private static func withUnusedBits(_ text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    guard let last = text.dropLast().last, let value = alphabet.firstIndex(of: last) else { return text }
    return text.dropLast(2) + String(alphabet[value | 1]) + "="
  }
}
