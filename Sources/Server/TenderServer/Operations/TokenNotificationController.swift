import Administration
import Hummingbird
import Ledger
import Logging
import Orders
import Settings
import Storage
import TenderPayments

/// Takes Apple's notifications about merchant tokens: `GET …/notification/merchantToken/{eventId}`, below the address that the
/// merchant's sheets name.
///
/// Anyone may call it. So nothing is believed but that there may be news: Apple is asked what it is. The answer says that
/// the notification is kept.
struct TokenNotificationController: Sendable {
  /// Below the server's address. `address(of:)` fills it in.
  static let path = "/applepay/merchants/:merchant"

  let database: Database
  let merchants: LiveMerchants
  let quotas: Quotas

  func receive(_ request: Request, _ context: ServerContext) async throws -> Response {
    let merchant = MerchantID(try context.parameters.require("merchant"))
    let event = try context.parameters.require("event")
    guard merchants.current[merchant] != nil, MerchantTokenEventID.isWellFormed(event) else {
      throw Problem(.notFound, "not_found", "No notification of Apple has this address.")
    }
    if let wait = quotas.takeNotification(to: merchant) { throw Problem.quotaExceeded(wait) }
    let isKept: Bool
    do {
      isKept = try await database.write { try Journal.keepMerchantTokenEvent(event, of: merchant, in: $0) }
    } catch {
      context.logger.error(
        "a notification of Apple cannot be kept",
        metadata: ["merchant": .string(merchant.rawValue), "reason": .string("\(error)")])
      isKept = false
    }
    guard isKept else {
      throw Problem(.internalServerError, "internal_error", "The notification cannot be kept now. Send it again.")
    }
    return Response(status: .ok)
  }
}

extension TokenNotificationController {
  init(_ parts: Composition) {
    (database, merchants, quotas) = (parts.database, parts.merchants, parts.quotas)
  }
}

extension MerchantTerms {
  /// With the address where Apple reports about the merchant tokens of the merchant's agreements. Apple takes no longer one.
  func notified(of merchant: MerchantID, at configuration: ServerConfiguration) -> MerchantTerms {
    let path = TokenNotificationController.path.replacing(":merchant", with: merchant.rawValue)
    let url = configuration.publicURL + path
    guard url.utf8.count <= 256 else { return self }
    var terms = self
    terms.tokenNotificationURL = url
    return terms
  }
}
