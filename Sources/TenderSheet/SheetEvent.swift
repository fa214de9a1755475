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
  case changed(SheetChange)
  /// The shopper agreed, and the payment token is there.
  case authorized
  /// The sheet is gone: the shopper closed it, or the device did.
  case closed

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
  case completePayment(PaymentCompletion)
  /// Close the sheet.
  case abort
  case tell(SheetNews)
}

/// How the sheet shows that the payment ended. With errors to correct it stays open.
public enum PaymentCompletion: Sendable, Hashable {
  case success
  case failure([SheetError])
}

/// What the page or the app is told. A failure's code is the server's, or one of the kit's own.
public enum SheetNews: Sendable, Hashable {
  /// The order stands. `pending` means that the provider has the payment and answers later.
  case authorized(PaymentStatus)
  /// Nothing was paid; or, with `outcome_unknown`, nobody can say yet, and the kit goes on asking.
  case failed(code: String)
  case cancelled
  /// No sheet was opened.
  case unavailable(code: String)
}

extension SheetNews {
  /// The codes that no server tells: a kit's own.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    case notPrepared = "not_prepared"
    case sheetNotOpened = "sheet_not_opened"
    case sessionExpired = "session_expired"
    case connectionLost = "connection_lost"
    case unexpectedAnswer = "unexpected_answer"
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
  case merchantSession(validationURL: String?)
  case update(SheetChange)
  /// Send the payment token. Safe to repeat: the basket makes it one payment.
  case pay(QuoteID)
  case outcome
  case cancel
}

/// What became of a call.
public enum ServerAnswer: Sendable, Hashable {
  case merchantSession
  case update(SheetUpdate, QuoteID)
  case payment(PaymentStatus)
  case cancelled
  case refused(SheetRefusal)
  /// The connection broke, or the answer took too long: the server may have done what it was asked.
  case lost
}

/// A problem that the server answered.
public struct SheetRefusal: Sendable, Hashable {
  public let status: Int
  public let code: String
  /// For the sheet, the gravest first.
  public let errors: [SheetError]

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
