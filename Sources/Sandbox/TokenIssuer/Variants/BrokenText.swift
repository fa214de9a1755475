import ApplePayToken
import StrictJSON
import TenderPayments

/// Texts that are no payment token, or not one text.
extension TokenVariant {
  static let brokenText: [TokenVariant] = [
    .refused("text-empty", .emptyPaymentData, "Nothing at all.") { $0.text { _ in [] } },
    .refused("text-not-json", .notJSON, "Words.") { $0.text { _ in Array("a payment token".utf8) } },
    .refused("text-cut-off", .notJSON, "The last ten bytes are missing.") { $0.text { Array($0.dropLast(10)) } },
    .refused("text-trailing-bytes", .notJSON, "Something follows the token.") { $0.text { $0 + Array("{}".utf8) } },
    .refused("text-trailing-comma", .notJSON, "A comma before the closing brace.") {
      $0.text { Array($0.dropLast()) + Array(",}".utf8) }
    },
    .refused("text-duplicate-key", .notJSON, "Two versions: readers would disagree about which counts.") {
      $0.text { Array(#"{"version":"EC_v1","#.utf8) + $0.dropFirst() }
    },
    .refused("text-duplicate-key-escaped", .notJSON, "Two versions, one of them spelled with an escape.") {
      $0.text { Array(#"{"\u0076ersion":"EC_v1","#.utf8) + $0.dropFirst() }
    },
    .refused("text-byte-order-mark", .notJSON, "A byte order mark before the text (RFC 8259 §8.1).") {
      $0.text { [0xEF, 0xBB, 0xBF] + $0 }
    },
    .refused("text-lone-surrogate", .notJSON, "Half of a character in a member that is not needed.") {
      $0.text { Array(#"{"note":"\ud800","#.utf8) + $0.dropFirst() }
    },
    .refused("text-bare-nul", .notJSON, "A NUL inside a string.") {
      $0.text { Array("{\"note\":\"\u{0}\",".utf8) + $0.dropFirst() }
    },
    .refused("text-invalid-utf8", .notJSON, "A byte that is no UTF-8.") {
      $0.text { Array(#"{"note":""#.utf8) + [0xFF] + Array(#"","#.utf8) + $0.dropFirst() }
    },
    .refused("text-overlong-utf8", .notJSON, "A slash in two bytes of UTF-8, which may have one.") {
      $0.text { Array(#"{"note":""#.utf8) + [0xC0, 0xAF] + Array(#"","#.utf8) + $0.dropFirst() }
    },
    .refused("text-comment", .notJSON, "A comment, which JSON does not have.") {
      $0.text { Array("/* token */".utf8) + $0 }
    },
    .refused("text-single-quotes", .notJSON, "Strings in single quotes.") {
      $0.text { $0.map { $0 == UInt8(ascii: "\"") ? UInt8(ascii: "'") : $0 } }
    },
    .refused("text-too-deep", .notJSON, "A thousand arrays inside one another.") {
      $0.text {
        Array(#"{"note":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 1000)
          + [UInt8](repeating: UInt8(ascii: "]"), count: 1000) + Array(",".utf8) + $0.dropFirst()
      }
    },
    .refused("text-twice-encoded", .doubleEncoded, "The token's JSON as a JSON string.") {
      $0.text { JSONValue.string(String(decoding: $0, as: UTF8.self)).serialized() }
    },
    .refused("text-payment-data-encoded", .doubleEncoded, "paymentData is a string with the object's JSON.") {
      $0.text { JSONValue.object(["paymentData": .string(String(decoding: $0, as: UTF8.self))]).serialized() }
    },
    .refused("text-payment-data-empty", .emptyPaymentData, "paymentData without members, as the iOS Simulator has it.")
    {
      $0.text { _ in Array(#"{"paymentData":{}}"#.utf8) }
    },
    .refused("text-payment-data-null", .emptyPaymentData, "paymentData is null.") {
      $0.text { _ in Array(#"{"paymentData":null}"#.utf8) }
    },
    .refused("text-payment-data-array", .wrongType, "paymentData is an array around the token.") {
      $0.text { Array(#"{"paymentData":["#.utf8) + $0 + Array("]}".utf8) }
    },
    .refused("text-array", .notAPaymentToken, "An array around the token.") {
      $0.text { [UInt8(ascii: "[")] + $0 + [UInt8(ascii: "]")] }
    },
    .refused("text-number", .notAPaymentToken, "A number.") { $0.text { _ in Array("7".utf8) } },
    .refused("text-other-object", .notAPaymentToken, "An object, and none of Apple's.") {
      $0.text { _ in Array(#"{"amount":1250}"#.utf8) }
    },
  ]
}
