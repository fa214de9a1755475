#if canImport(PassKit)
  import Foundation
  import PassKit
  import TenderPayments
  import TenderSheet

  extension PaymentAgreement {
    /// Adds the agreement to the request. A deferred payment needs iOS 16.4; on older systems the sheet shows this
    /// payment only, and the payment token has no merchant token.
    func put(into request: PKPaymentRequest) {
      guard let management = URL(string: terms.managementURL) else { return }
      switch self {
      case .recurring(let payment): request.recurringPaymentRequest = payment.passKit(management)
      case .automaticReload(let reload): request.automaticReloadPaymentRequest = reload.passKit(management)
      case .deferred(let payment):
        if #available(iOS 16.4, macOS 13.3, *) { request.deferredPaymentRequest = payment.passKit(management) }
      }
    }
  }

  extension RecurringPayment {
    fileprivate func passKit(_ management: URL) -> PKRecurringPaymentRequest {
      let request = PKRecurringPaymentRequest(
        paymentDescription: terms.paymentDescription, regularBilling: regular.passKit, managementURL: management)
      request.trialBilling = trial?.passKit
      request.billingAgreement = terms.billingAgreement
      request.tokenNotificationURL = terms.tokenNotificationURL.flatMap { URL(string: $0) }
      return request
    }
  }

  extension RecurringPayment.Billing {
    fileprivate var passKit: PKRecurringPaymentSummaryItem {
      let item = PKRecurringPaymentSummaryItem(label: label, amount: amount.passKit)
      item.intervalUnit = interval.unit.passKit
      item.intervalCount = interval.count
      item.startDate = start?.date
      item.endDate = end?.date
      return item
    }
  }

  extension BillingInterval.Unit {
    fileprivate var passKit: NSCalendar.Unit {
      switch self {
      case .minute: .minute
      case .hour: .hour
      case .day: .day
      case .month: .month
      case .year: .year
      }
    }
  }

  extension AutomaticReload {
    fileprivate func passKit(_ management: URL) -> PKAutomaticReloadPaymentRequest {
      let item = PKAutomaticReloadPaymentSummaryItem(label: label, amount: amount.passKit)
      item.thresholdAmount = threshold.passKit
      let request = PKAutomaticReloadPaymentRequest(
        paymentDescription: terms.paymentDescription, automaticReloadBilling: item, managementURL: management)
      request.billingAgreement = terms.billingAgreement
      request.tokenNotificationURL = terms.tokenNotificationURL.flatMap { URL(string: $0) }
      return request
    }
  }

  @available(iOS 16.4, macOS 13.3, *)
  extension DeferredPayment {
    fileprivate func passKit(_ management: URL) -> PKDeferredPaymentRequest {
      let item = PKDeferredPaymentSummaryItem(label: label, amount: amount.passKit)
      item.deferredDate = date.date
      let request = PKDeferredPaymentRequest(
        paymentDescription: terms.paymentDescription, deferredBilling: item, managementURL: management)
      request.billingAgreement = terms.billingAgreement
      request.tokenNotificationURL = terms.tokenNotificationURL.flatMap { URL(string: $0) }
      if let freeCancellation {
        request.freeCancellationDate = freeCancellation.until.date
        request.freeCancellationDateTimeZone = TimeZone(identifier: freeCancellation.timeZone)
      }
      return request
    }
  }

  extension Timestamp {
    fileprivate var date: Date { Date(timeIntervalSince1970: Double(microseconds) / 1_000_000) }
  }
#endif
