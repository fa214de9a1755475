/// What the sandbox's acquirer does with a card.
///
/// The outcome belongs to the device account number, not to the payment token: the acquirer sees nothing else of the
/// card, and so a test that pays with the card knows the answer beforehand.
package enum SandboxOutcome: Sendable, Hashable {
  case approve
  /// Half of the amount is approved and held.
  case approveForLess
  /// The issuer declines, with this response code of ISO 8583 field 39.
  case decline(responseCode: String)
  /// Accepted for processing; an inquiry later finds it approved.
  case pending
  /// The request is lost: the caller gets no answer, and an inquiry finds nothing.
  case noAnswer
  /// The answer is lost: the caller gets none, and an inquiry finds an approval.
  case noAnswerAfterApproval

  /// For the front page and the lists: `approve`, `decline 51`, `no-answer-after-approval`.
  package var code: String {
    switch self {
    case .approve: "approve"
    case .approveForLess: "approve-for-less"
    case .decline(let responseCode): "decline \(responseCode)"
    case .pending: "pending"
    case .noAnswer: "no-answer"
    case .noAnswerAfterApproval: "no-answer-after-approval"
    }
  }

  /// The outcome, for people.
  package var explanation: String {
    switch self {
    case .approve: "Approved at once."
    case .approveForLess: "Approved for half of the amount: declined here, and the hold is reversed."
    case .decline(let responseCode): "Declined: \(Self.meaning[responseCode] ?? "response code \(responseCode)")."
    case .pending: "Accepted as pending; a later inquiry finds it approved."
    case .noAnswer: "The request is lost: a timeout, and nothing was authorized."
    case .noAnswerAfterApproval: "Approved, but the answer is lost: a timeout, and money is held."
    }
  }

  private static let meaning = [
    "05": "do not honour", "41": "lost card", "51": "insufficient funds", "54": "expired card",
  ]
}
