#if canImport(PassKit)
  import Foundation
  public import PassKit
  import TenderPayments
  public import TenderSheet

  extension SummaryItem {
    /// One line of PassKit's sheet. The last of a list is the total.
    public var passKit: PKPaymentSummaryItem {
      PKPaymentSummaryItem(label: label, amount: amount.passKit, type: kind == .pending ? .pending : .final)
    }
  }

  extension ShippingMethod {
    /// The shipping method for PassKit.
    public var passKit: PKShippingMethod {
      let method = PKShippingMethod(label: label, amount: amount.passKit)
      method.identifier = identifier
      method.detail = detail
      if let dateRange {
        method.dateComponentsRange = PKDateComponentsRange(
          start: dateRange.start.components, end: dateRange.end.components)
      }
      return method
    }
  }

  extension Amount {
    /// Converted from text, because a `Double` cannot represent most amounts.
    var passKit: NSDecimalNumber { NSDecimalNumber(string: decimalString) }
  }

  extension ShippingDate {
    var components: DateComponents {
      DateComponents(
        calendar: Calendar(identifier: .gregorian), year: years, month: months, day: days, hour: hours)
    }
  }
#endif
