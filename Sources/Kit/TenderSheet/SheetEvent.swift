public import TenderPayments

/// An event of a payment sheet, from the page or app, the sheet, the server or the clock.
///
/// An event never holds the payment token or a full contact.
public enum SheetEvent: Sendable, Hashable {
  /// The data for a sheet is fetched. It will show this quote.
  case prepared(QuoteID)
  /// The shopper pressed the button.
  case pressed
  /// The page was reloaded, or the app restarted, and the basket already has a payment.
  case returned

  /// The device refused to show the sheet.
  case notOpened
  /// `validatemerchant`. Apps receive it only on a Mac, without a URL.
  case merchantSessionRequested(validationURL: String?)
  /// The shopper changed something.
  case changed(SheetChange)
  /// The shopper authorized, and the payment token is available.
  case authorized
  /// The shopper or the device closed the sheet.
  case closed

  /// The server's answer to a call, or that none arrived.
  case answered(CallID, ServerAnswer)
  /// The time `SheetFlow.wakeAt` has come.
  case woke
}

/// An effect that the kit carries out.
public enum SheetEffect: Sendable, Hashable {
  /// Show the sheet at once: on the web, this runs within the shopper's gesture.
  case open
  /// Call the server. Without an answer in this time, report `ServerAnswer.lost`.
  case ask(CallID, SheetCall, within: Duration)
  /// Pass the server's merchant session to the sheet.
  case giveMerchantSession
  /// Answer the sheet's event.
  case update(SheetMoment, SheetUpdate)
  /// Report the end of the payment to the sheet.
  case completePayment(PaymentCompletion)
  /// Close the sheet.
  case abort
  /// Report to the page or the app.
  case report(SheetReport)
}

/// The end of a payment for the sheet.
public enum PaymentCompletion: Sendable, Hashable {
  /// The order is placed: the sheet shows a tick and closes.
  case success
  /// The payment failed. With errors, the sheet stays open and marks them, the most severe first.
  case failure([SheetError])
}

/// A report to the page or the app. A failure's code is the server's, or one of the kit's own.
public enum SheetReport: Sendable, Hashable {
  /// The order is placed. `pending` means that the provider has the payment and answers later.
  case authorized(PaymentStatus)
  /// Nothing was paid; with `outcome_unknown`, the outcome is not known yet, and the kit keeps asking.
  case failed(code: String)
  /// The shopper cancelled; nothing was paid.
  case cancelled
  /// No sheet was opened.
  case unavailable(code: String)
}

extension SheetReport {
  /// The kit's own codes.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// There is no basket to pay.
    case notPrepared = "not_prepared"
    /// The device refused the payment request.
    case sheetNotOpened = "sheet_not_opened"
    /// The merchant session was too old.
    case sessionExpired = "session_expired"
    /// The server did not answer in time, and nothing was paid.
    case connectionLost = "connection_lost"
    /// The server's answer does not match the call.
    case unexpectedAnswer = "unexpected_answer"
    /// It is not known whether it was paid; the kit keeps asking.
    case outcomeUnknown = "outcome_unknown"
  }

  static func failed(_ code: Code) -> SheetReport { .failed(code: code.rawValue) }
  static func unavailable(_ code: Code) -> SheetReport { .unavailable(code: code.rawValue) }
}

/// Identifies one call of a flow.
public struct CallID: Sendable, Hashable {
  let number: Int
}

/// A call to the server while a sheet is open.
public enum SheetCall: Sendable, Hashable {
  /// Request a merchant session from Apple through the server.
  case merchantSession(validationURL: String?)
  /// Ask for the sheet's contents after this change.
  case update(SheetChange)
  /// Send the payment token. Safe to repeat: a basket has one payment.
  case pay(QuoteID)
  /// Ask for the outcome of the payment.
  case outcome
  /// Cancel the basket, if it is not too late.
  case cancel
}

/// The result of a call.
public enum ServerAnswer: Sendable, Hashable {
  /// Apple's merchant session, for the sheet.
  case merchantSession
  /// What the sheet shows now, and the quote that its payment must name.
  case update(SheetUpdate, QuoteID)
  /// The server has a payment with this status.
  case payment(PaymentStatus)
  /// The basket is cancelled; nothing was paid.
  case cancelled
  /// The server refused.
  case refused(SheetRefusal)
  /// The connection broke, or the answer took too long: the server may have acted.
  case lost
}

/// A problem that the server answered.
public struct SheetRefusal: Sendable, Hashable {
  /// The HTTP status.
  public let status: Int
  /// Stable; listed in `docs/errors.md`.
  public let code: String
  /// For the sheet, the most severe first.
  public let errors: [SheetError]

  /// A refusal.
  public init(status: Int, code: String, errors: [SheetError] = []) {
    self.status = status
    self.code = code
    self.errors = errors
  }
}

extension ServerAnswer {
  /// Whether a repeated call may succeed.
  var isPassing: Bool {
    switch self {
    case .lost: true
    case .refused(let refusal): [429, 502, 503, 504].contains(refusal.status)
    default: false
    }
  }

  /// The code of the failed call.
  var failureCode: String {
    switch self {
    case .refused(let refusal): refusal.code
    case .lost: SheetReport.Code.connectionLost.rawValue
    default: SheetReport.Code.unexpectedAnswer.rawValue
    }
  }
}
