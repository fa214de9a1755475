import StrictJSON
import TenderPayments

/// The plaintext inside a payment token, with Apple's keys in Apple's order.
///
/// Source: Apple, *Payment token format reference*, “Payment Data Keys”.
struct PaymentDataText {
  let card: SandboxCard
  let amount: Amount
  let cryptogram: [UInt8]

  init(card: SandboxCard, amount: Amount, random: RandomBytes) {
    self.card = card
    self.amount = amount
    cryptogram = random.next(card.network == .masterCard ? 19 : 20)
  }

  var bytes: [UInt8] { JSONValue.object(members).serialized() }

  var members: JSONObject {
    [
      "applicationPrimaryAccountNumber": .string(card.dpan.revealed),
      "applicationExpirationDate": .string(card.expirationDate),
      "currencyCode": .string(amount.currency.numericCode), "transactionAmount": .integer(amount.minorUnits),
      "deviceManufacturerIdentifier": .string(card.deviceManufacturer), "paymentDataType": "3DSecure",
      "paymentData": JSONObject.of([
        "onlinePaymentCryptogram": .string(Base64.encode(cryptogram)), "eciIndicator": card.eci.map(JSONValue.string),
      ]),
    ]
  }
}

extension SandboxCard {
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
