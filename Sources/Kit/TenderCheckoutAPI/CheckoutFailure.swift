public import TenderSheet

/// Why a call of the checkout API did not do what it should.
public enum CheckoutFailure: Error, Sendable, Hashable {
  /// The server answered, and said no.
  case refused(ProblemDetails)
  /// The server was not reached: nothing happened there.
  case notSent(String)
  /// No answer came: the server may have done it.
  case lost
  /// The answer is not what this kit understands; it may come from a proxy, or from a newer server.
  case unreadable(status: Int)

  /// Stable: the server's own, or one of the three that only a client can see.
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

  /// Ready for the sheet, the gravest first.
  public var sheetErrors: [SheetError] {
    if case .refused(let problem) = self { problem.errors } else { [] }
  }
}
