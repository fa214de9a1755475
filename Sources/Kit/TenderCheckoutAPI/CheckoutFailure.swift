public import TenderSheet

/// Why a call of the checkout API failed.
public enum CheckoutFailure: Error, Sendable, Hashable {
  /// The server refused the call.
  case refused(ProblemDetails)
  /// The call was not sent, so nothing happened at the server.
  case notSent(String)
  /// No answer arrived: the server may have acted.
  case lost
  /// The answer cannot be read; it may come from a proxy or a newer server.
  case unreadable(status: Int)

  /// Stable: the server's code, or one of the three codes of the client.
  public var code: String {
    switch self {
    case .refused(let problem): problem.code
    case .notSent: "server_unreachable"
    case .lost: "connection_lost"
    case .unreadable: "answer_unreadable"
    }
  }

  /// For the integrator.
  public var detail: String {
    switch self {
    case .refused(let problem): problem.detail
    case .notSent(let reason): "The server was not reached: \(reason)"
    case .lost: "The connection was lost before the answer."
    case .unreadable(let status): "HTTP \(status) with a body that is no answer of Tender."
    }
  }

  /// For the sheet, the most severe first.
  public var sheetErrors: [SheetError] {
    if case .refused(let problem) = self { problem.errors } else { [] }
  }
}
