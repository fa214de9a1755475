import StrictJSON
import TenderPayments
import TokenIssuer

/// A payment that a page or an app requests from the device.
struct DevicePaymentRequest: Sendable {
  let card: SandboxCard
  let amount: Amount
  let applicationData: [UInt8]?
  let merchantSession: JSONField?
  /// The sheet's name for itself; a session may be used again in the same sheet.
  let sheet: String?
  /// The merchant identifier to encrypt to; with a session it may be left out, and otherwise has to agree with it.
  let merchantIdentifier: String?
  /// Whether the sheet showed an agreement beyond this payment.
  let hasAgreement: Bool
  /// What the shopper agreed to, and where Apple reports about the merchant token.
  let agreementText: String
  let tokenNotificationURL: String?

  init(_ body: JSONField) throws {
    let cardID = try body.member("cardId").string
    guard let card = SandboxCards.card(id: cardID) else {
      throw SandboxProblem(
        status: 400, code: "card_unknown", message: "The wallet has no such card; GET /device/cards lists them.")
    }
    self.card = card
    amount = try Self.amount(body.member("amount").string, body.member("currency").string)
    applicationData = try body.memberIfPresent("applicationData").map { try Self.bytes($0.string) }
    merchantSession = try body.memberIfPresent("merchantSession")
    sheet = try body.memberIfPresent("sheetId")?.string
    merchantIdentifier = try body.memberIfPresent("publicKeyOf")?.string
    hasAgreement = try body.memberIfPresent("agreement")?.bool ?? false
    agreementText = try String((body.memberIfPresent("agreementText")?.string ?? "").prefix(200))
    tokenNotificationURL = try body.memberIfPresent("tokenNotificationURL").map { try Self.address($0.string) }
  }

  /// Apple calls no other addresses; the sandbox this machine's too.
  private static func address(_ text: String) throws -> String {
    let isOwn = ["http://localhost:", "http://127.0.0.1:"].contains { text.hasPrefix($0) }
    guard text.utf8.count <= 256, isOwn || text.hasPrefix("https://") else {
      throw SandboxProblem(
        status: 400, code: "invalid_request",
        message: "tokenNotificationURL is no https address of at most 256 letters.")
    }
    return text
  }

  private static func amount(_ text: String, _ code: String) throws -> Amount {
    guard let currency = Currency(code: code), currency.isMoney else {
      throw SandboxProblem(status: 400, code: "invalid_currency", message: "currency is no ISO 4217 code of money.")
    }
    guard let amount = try? Amount(sheet: text, currency: currency) else {
      throw SandboxProblem(
        status: 400, code: "invalid_amount",
        message: "amount is a decimal text that is not negative, such as 12.50.")
    }
    return amount
  }

  private static func bytes(_ base64: String) throws -> [UInt8] {
    guard let bytes = Base64.decode(base64) else {
      throw SandboxProblem(status: 400, code: "invalid_application_data", message: "applicationData is not base64.")
    }
    return bytes
  }
}
