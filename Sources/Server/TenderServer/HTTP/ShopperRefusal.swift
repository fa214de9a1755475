import Gateway
import Orders
import Storage
import TenderSheet

/// An error of a payment, with what the shopper reads of it. Code, status and log are the error's own.
struct ShopperRefusal: Error {
  let error: any Error
  let text: String

  /// Nil for an error that the shopper can do nothing about.
  ///
  /// - Parameter locale: the shopper's; asked for only when there is a text.
  init?(_ error: any Error, locale: () async -> ShopperLocale) async {
    if let first = (error as? OrderError)?.sheetErrors.first {
      self.init(error: error, text: first.message)
    } else if let text = ShopperText(error) {
      self.init(error: error, text: await locale().text(text))
    } else {
      return nil
    }
  }

  private init(error: any Error, text: String) {
    self.error = error
    self.text = text
  }
}

extension ShopperText {
  /// What the shopper may do about an error.
  fileprivate init?(_ error: any Error) {
    switch error {
    case let error as OrderError: self.init(error.code)
    case GatewayError.paymentInProgress, GatewayError.outcomeNotRecorded, StorageError.outcomeUnknown:
      self = .paymentUnderWay
    case GatewayError.overloaded, GatewayError.outOfTime, GatewayError.routeNotReconciled: self = .tryAgain
    case GatewayError.paidBeforeRestore: self = .orderClosed
    default: return nil
    }
  }

  private init?(_ code: OrderError.Code) {
    switch code {
    case .paymentInProgress: self = .paymentUnderWay
    case .quoteStale: self = .orderChanged
    case .basketPlaced, .basketCancelled, .basketExpired, .attemptsUsedUp: self = .orderClosed
    case .quoteSourceUnavailable, .quoteSourceInvalid: self = .tryAgain
    default: return nil
    }
  }
}
