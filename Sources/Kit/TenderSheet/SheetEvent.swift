public import TenderPayments

/// What happens to a payment sheet, as its kit sees it: from the page or app, the sheet, the server and the clock.
///
/// Neither the payment token nor a full contact is ever part of one: they stay with whoever sends them.
public enum SheetEvent: Sendable, Hashable {
  /// Everything that a sheet needs was fetched. It will show this quote.
  case prepared(QuoteID)
  /// The shopper pressed the button.
  case pressed
  /// The page was loaded again, or the app was started again, and the basket has a payment already.
  case returned

  /// The device refused to show the sheet.
  case notOpened
  /// `validatemerchant`. An app is asked only on a Mac, and without a URL.
  case merchantSessionRequested(validationURL: String?)
  /// The shopper chose something else.
  case changed(SheetChange)
  /// The shopper agreed, and the payment token is there.
  case authorized
  /// The sheet is gone: the shopper closed it, or the device did.
  case closed

  /// The server's answer to a call that was asked for; or that none came.
  case answered(CallID, ServerAnswer)
  /// `SheetFlow.wakeAt` has come.
  case woke
}

/// What a kit does about it.
public enum SheetEffect: Sendable, Hashable {
  /// Show the sheet at once: on the web this is still inside the shopper's gesture.
  case open
  /// Call the server. Without an answer in this time, report `ServerAnswer.lost`.
  case ask(CallID, SheetCall, within: Duration)
  /// Hand the sheet the merchant session that the server answered.
  case giveMerchantSession
  /// Complete the sheet's event.
  case update(SheetMoment, SheetUpdate)
  /// Tell the sheet how the payment ended.
  case completePayment(PaymentCompletion)
  /// Close the sheet.
  case abort
  /// Tell the page or the app.
  case tell(SheetNews)
}

/// How the sheet shows that the payment ended. With errors to correct it stays open.
public enum PaymentCompletion: Sendable, Hashable {
  /// The order stands: the sheet shows a tick and closes.
  case success
  /// The payment failed. With errors the sheet stays open and marks them, the gravest first.
  case failure([SheetError])
}

/// What the page or the app is told. A failure's code is the server's, or one of the kit's own.
public enum SheetNews: Sendable, Hashable {
  /// The order stands. `pending` means that the provider has the payment and answers later.
  case authorized(PaymentStatus)
  /// Nothing was paid; or, with `outcome_unknown`, nobody can say yet, and the kit goes on asking.
  case failed(code: String)
  /// The shopper ended it; nothing was paid.
  case cancelled
  /// No sheet was opened.
  case unavailable(code: String)
}

extension SheetNews {
  /// The codes that no server tells: a kit's own.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no basket to pay.
    case notPrepared = "not_prepared"
    /// The device refused the payment request.
    case sheetNotOpened = "sheet_not_opened"
    /// The merchant session was too old.
    case sessionExpired = "session_expired"
    /// The server did not answer in time, and nothing was paid.
    case connectionLost = "connection_lost"
    /// The server answered something that does not belong to the question.
    case unexpectedAnswer = "unexpected_answer"
    /// Nobody knows whether it was paid; the kit goes on asking.
    case outcomeUnknown = "outcome_unknown"
  }

  static func failed(_ code: Code) -> SheetNews { .failed(code: code.rawValue) }
  static func unavailable(_ code: Code) -> SheetNews { .unavailable(code: code.rawValue) }
}

/// One call among those that a flow makes.
public struct CallID: Sendable, Hashable {
  let number: Int
}

/// What a kit asks the server while a sheet is open.
public enum SheetCall: Sendable, Hashable {
  /// Ask Apple, by way of the server, for a merchant session.
  case merchantSession(validationURL: String?)
  /// What does the sheet show after this change?
  case update(SheetChange)
  /// Send the payment token. Safe to repeat: the basket makes it one payment.
  case pay(QuoteID)
  /// What became of the payment?
  case outcome
  /// End the basket, if that is in time.
  case cancel
}

/// What became of a call.
public enum ServerAnswer: Sendable, Hashable {
  /// Apple's merchant session, for the sheet alone.
  case merchantSession
  /// What the sheet shows now, and the quote that a payment of it must name.
  case update(SheetUpdate, QuoteID)
  /// The server has a payment, which stands so.
  case payment(PaymentStatus)
  /// The basket is ended; nothing was paid.
  case cancelled
  /// The server said no.
  case refused(SheetRefusal)
  /// The connection broke, or the answer took too long: the server may have done what it was asked.
  case lost
}

/// A problem that the server answered.
public struct SheetRefusal: Sendable, Hashable {
  /// Of HTTP.
  public let status: Int
  /// Stable; listed in `docs/errors.md`.
  public let code: String
  /// For the sheet, the gravest first.
  public let errors: [SheetError]

  /// A problem, as the server told it.
  public init(status: Int, code: String, errors: [SheetError] = []) {
    self.status = status
    self.code = code
    self.errors = errors
  }
}

extension ServerAnswer {
  /// Whether the same call may be answered otherwise in a moment.
  var isPassing: Bool {
    switch self {
    case .lost: true
    case .refused(let refusal): [429, 502, 503, 504].contains(refusal.status)
    default: false
    }
  }

  /// Why nothing came of the call.
  var complaint: String {
    switch self {
    case .refused(let refusal): refusal.code
    case .lost: SheetNews.Code.connectionLost.rawValue
    default: SheetNews.Code.unexpectedAnswer.rawValue
    }
  }
}
