import Crypto
import StrictJSON
import TenderPayments

/// The plaintext inside a payment token, with Apple's keys in Apple's order.
///
/// Source: Apple, *Payment token format reference*, “Payment Data Keys”.
struct PaymentDataText {
  let card: SandboxCard
  let amount: Amount
  /// What the card answers: a cryptogram for 3-D Secure, or a chip's own.
  let cryptogram: [UInt8]
  /// As of ``PaymentTokenRequest/agreementMerchant``.
  let agreementMerchant: String?

  init(_ request: PaymentTokenRequest, random: RandomBytes) {
    (card, amount, agreementMerchant) = (request.card, request.amount, request.agreementMerchant)
    cryptogram = random.next(card.answersWithEMV ? 8 : card.network == .masterCard ? 19 : 20)
  }

  var bytes: [UInt8] { JSONValue.object(members).serialized() }

  var members: JSONObject {
    guard let merchant = agreementMerchant, let number = card.merchantToken else { return members(of: card.dpan) }
    var members = members(of: number)
    members["merchantTokenIdentifier"] = .string(card.merchantTokenIdentifier(for: merchant))
    members["merchantTokenMetadata"] = [
      "cardMetadata": [
        "cardCountry": "IE", "expirationDate": "12/2031", "fpanSuffix": .string(card.suffix),
        "shortDescription": .string(card.label),
      ],
      "cardArt": [["name": "card", "type": "image/png", "url": "https://sandbox.example/card.png"]],
    ]
    return members
  }

  private func members(of number: DPAN) -> JSONObject {
    [
      "applicationPrimaryAccountNumber": .string(number.revealed),
      "applicationExpirationDate": .string(card.expirationDate),
      "currencyCode": .string(amount.currency.numericCode), "transactionAmount": .integer(amount.minorUnits),
      "deviceManufacturerIdentifier": .string(card.deviceManufacturer),
      "paymentDataType": card.answersWithEMV ? "EMV" : "3DSecure", "paymentData": answer,
    ]
  }

  private var answer: JSONValue {
    guard !card.answersWithEMV else { return ["emvData": .string(Base64.encode(emvData))] }
    return JSONObject.of([
      "onlinePaymentCryptogram": .string(Base64.encode(cryptogram)), "eciIndicator": card.eci.map(JSONValue.string),
    ])
  }

  /// Tag-length-value data of an online authorization (EMV Book 3, annex A): the cryptogram and what it covers.
  private var emvData: [UInt8] {
    let amountDigits = String(String(repeating: "0", count: 12) + String(amount.minorUnits)).suffix(12)
    let currency = Hex.decode("0" + amount.currency.numericCode) ?? []
    let tags: [([UInt8], [UInt8])] = [
      ([0x9F, 0x26], cryptogram), ([0x9F, 0x27], [0x80]), ([0x9F, 0x36], [0x00, 0x01]), ([0x95], [0, 0, 0, 0, 0]),
      ([0x9C], [0x00]), ([0x9F, 0x02], Hex.decode(String(amountDigits)) ?? []), ([0x5F, 0x2A], currency),
      ([0x82], [0x7C, 0x00]),
    ]
    return tags.flatMap { tag, value in tag + [UInt8(value.count)] + value }
  }
}

extension SandboxCard {
  /// The network's name of the card's merchant token: the same for every payment to the merchant, from every device.
  package func merchantTokenIdentifier(for merchant: String) -> String {
    "MT-" + Hex.encode(Array(SHA256.hash(data: Array("\(id) \(merchant)".utf8)).prefix(16)))
  }

  /// The electronic commerce indicator that the network adds. Mastercard habitually adds none.
  fileprivate var eci: String? {
    switch network {
    case .masterCard: nil
    case .visa: type == .debit ? "07" : "05"
    default: "05"
    }
  }

  /// Twelve hex digits. Those of Visa and Mastercard were read off Apple's tokens, the others are made up alike.
  fileprivate var deviceManufacturer: String {
    switch network {
    case .visa: "040010030273"
    case .masterCard: "050110030273"
    case .amex: "030010030273"
    case .discover: "060010030273"
    default: "090010030273"
    }
  }
}
