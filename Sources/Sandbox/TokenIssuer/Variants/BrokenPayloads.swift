import ApplePayToken
import StrictJSON
import TenderPayments

/// Well encrypted texts that are not Apple's payment data.
extension TokenVariant {
  static let brokenPayloads: [TokenVariant] = texts + missing + amounts + currencies + cards

  private static let texts: [TokenVariant] = [
    .refused("payload-words", .payloadNotJSON, "Words.") { $0.plaintext { _ in Array("paid".utf8) } },
    .refused("payload-cut-off", .payloadNotJSON, "The last byte is missing.") { $0.plaintext { Array($0.dropLast()) } },
    .refused("payload-trailing-comma", .payloadNotJSON, "A comma too many.") {
      $0.plaintext { $0.dropLast() + Array(",}".utf8) }
    },
    .refused("payload-duplicate-amount", .payloadNotJSON, "Two amounts: which was agreed to?") {
      $0.plaintext { Array(#"{"transactionAmount":1,"#.utf8) + $0.dropFirst() }
    },
    .refused("payload-byte-order-mark", .payloadNotJSON, "A byte order mark.") {
      $0.plaintext { [0xEF, 0xBB, 0xBF] + $0 }
    },
    .refused("payload-trailing-zero", .payloadNotJSON, "A NUL after the text.") { $0.plaintext { $0 + [0] } },
    .refused("payload-invalid-utf8", .payloadNotJSON, "A byte that is no UTF-8.") {
      $0.plaintext { Array(#"{"note":""#.utf8) + [0xFF] + Array(#"","#.utf8) + $0.dropFirst() }
    },
    .refused("payload-too-deep", .payloadNotJSON, "A hundred arrays inside one another.") {
      $0.plaintext {
        Array(#"{"note":"#.utf8) + [UInt8](repeating: UInt8(ascii: "["), count: 100)
          + [UInt8](repeating: UInt8(ascii: "]"), count: 100) + Array(",".utf8) + $0.dropFirst()
      }
    },
    .refused("payload-array", .badPayload, "An array around the data.") {
      $0.plaintext { [UInt8(ascii: "[")] + $0 + [UInt8(ascii: "]")] }
    },
    .refused("payload-empty-object", .badPayload, "No members.") { $0.plaintext { _ in Array("{}".utf8) } },
  ]

  private static let missing: [TokenVariant] =
    [
      "applicationPrimaryAccountNumber", "applicationExpirationDate", "currencyCode", "transactionAmount",
      "paymentDataType", "paymentData",
    ].map { key in
      .refused("payload-without-\(key)", .badPayload, "There is no \(key).") { $0.payload[key] = nil }
    } + [
      .refused("payload-without-cryptogram", .badPayload, "The card's answer has no cryptogram.") {
        $0.answer { $0["onlinePaymentCryptogram"] = nil }
      },
      .refused("payload-empty-cryptogram", .badPayload, "An empty cryptogram.") {
        $0.answer { $0["onlinePaymentCryptogram"] = "" }
      },
      .refused("payload-unknown-type", .badPayload, "Neither 3DSecure nor EMV.") {
        $0.payload["paymentDataType"] = "3dsecure"
      },
      .refused("payload-answer-encoded", .badPayload, "The card's answer as a string.") {
        $0.payload["paymentData"] = "{}"
      },
    ]

  private static let wrongAmounts: [(name: String, value: JSONValue, summary: String)] = [
    ("text", .string("1250"), "Text."), ("fraction", .number("12.50"), "Twelve and a half."),
    ("exponent", .number("1e3"), "An exponent."), ("negative", .integer(-1250), "Less than nothing."),
    ("beyond-64-bits", .number("9223372036854775808"), "2⁶³."), ("null", .null, "Nothing."),
    ("boolean", .bool(true), "True, which some languages take for 1."),
    ("fraction-beyond-64-bits", .number("9223372036854775808.0"), "2⁶³ with a fraction of zero."),
  ]

  private static let amounts: [TokenVariant] = wrongAmounts.map { amount in
    .refused("amount-\(amount.name)", .badAmount, amount.summary) { $0.payload["transactionAmount"] = amount.value }
  }

  private static let wrongCurrencies: [(name: String, code: String, summary: String)] = [
    ("letters", "EUR", "Letters, where Apple has digits."), ("two-digits", "36", "036 without its zero."),
    ("unassigned", "000", "A code of no currency."), ("four-digits", "0978", "A zero too many."),
    ("test-code", "963", "XTS, the code for tests."), ("empty", "", "Nothing."), ("space", "978 ", "A space after it."),
  ]

  private static let currencies: [TokenVariant] =
    wrongCurrencies.map { currency in
      .refused("currency-\(currency.name)", .unknownCurrency, currency.summary) {
        $0.payload["currencyCode"] = .string(currency.code)
      }
    } + [currencyNumber]

  private static let currencyNumber = TokenVariant.refused(
    "currency-number", .badPayload, "A number, which cannot have leading zeros."
  ) { $0.payload["currencyCode"] = 978 }

  private static let wrongNumbers: [(name: String, number: JSONValue)] = [
    ("letters", "476173900000001X"), ("too-short", "47617390000"), ("too-long", "47617390000000120000"),
    ("spaces", "4761 7390 0000 0012"), ("wide-digits", "４７６１７３９０００００００１２"),
    ("as-number", .integer(4_761_739_000_000_012)),
  ]

  private static let wrongExpiries: [(name: String, text: JSONValue)] = [
    ("month-13", "311331"), ("four-digits", "3112"), ("as-number", 311_231),
  ]

  private static let cards: [TokenVariant] =
    wrongNumbers.map { card in
      .refused("account-number-\(card.name)", .badPayload, "No account number.") {
        $0.payload["applicationPrimaryAccountNumber"] = card.number
      }
    }
    + wrongExpiries.map { expiry in
      .refused("expiry-\(expiry.name)", .badPayload, "No date.") {
        $0.payload["applicationExpirationDate"] = expiry.text
      }
    }
}
