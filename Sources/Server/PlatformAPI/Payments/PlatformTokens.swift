import DirectWire
import Gateway
import Ledger
import Storage
package import TenderPayments

// Worldline's `/tokens`. A token is the name of an agreement, which the first payment's `creationOutput` gives: card numbers
// are not taken, so none is made by itself.
extension PlatformPayments {
  /// `POST /tokens`: refused, before its body is read as anything.
  package static func refuseToken() -> PlatformRefusal {
    .invalid(
      "card", "Tender keeps no card numbers. A payment with isRecurring begins an agreement; its id is the token.")
  }

  /// `GET /tokens/{id}`. That of an ended agreement is deleted.
  package func token(_ id: String, of merchant: MerchantID) async throws -> PlatformAnswer {
    let agreement = try await requireToken(id, of: merchant)
    let card = try await journal.payment(agreement.firstPayment)?.card
    return try PlatformAnswer(
      TokenAnswer(id: agreement.id.rawValue, suffix: card?.deviceAccountSuffix, expiry: card?.expiry?.mmyy))
  }

  /// `DELETE /tokens/{id}`: ends the agreement for good.
  package func deleteToken(_ id: String, of merchant: MerchantID) async throws {
    let agreement = try await requireToken(id, of: merchant)
    _ = try await journal.database.write { [journal] store in
      try journal.change(agreement.id, of: merchant, by: .ended, .merchant, in: store)
    }
  }

  private func requireToken(_ id: String, of merchant: MerchantID) async throws -> Agreement {
    guard let found = try await journal.agreement(AgreementID(id), of: merchant), found.status != .ended else {
      throw PlatformRefusal(.unknownToken)
    }
    return found
  }
}
