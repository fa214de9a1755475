public import Foundation

open class PKPaymentSummaryItem: NSObject {
  public var label: String
  public var amount: NSDecimalNumber
  public var type: PKPaymentSummaryItemType

  public init(label: String, amount: NSDecimalNumber, type: PKPaymentSummaryItemType) {
    (self.label, self.amount, self.type) = (label, amount, type)
  }

  public convenience init(label: String, amount: NSDecimalNumber) {
    self.init(label: label, amount: amount, type: .final)
  }
}

open class PKShippingMethod: PKPaymentSummaryItem {
  public var identifier: String?
  public var detail: String?
  public var dateComponentsRange: PKDateComponentsRange?
}

open class PKDateComponentsRange: NSObject {
  public let startDateComponents: DateComponents
  public let endDateComponents: DateComponents

  public init?(start: DateComponents, end: DateComponents) {
    (startDateComponents, endDateComponents) = (start, end)
  }
}

open class PKRecurringPaymentSummaryItem: PKPaymentSummaryItem {
  public var startDate: Date?
  public var intervalUnit: NSCalendar.Unit = .month
  public var intervalCount = 1
  public var endDate: Date?
}

open class PKDeferredPaymentSummaryItem: PKPaymentSummaryItem {
  public var deferredDate = Date()
}

open class PKAutomaticReloadPaymentSummaryItem: PKPaymentSummaryItem {
  public var thresholdAmount: NSDecimalNumber = 0
}

open class PKRecurringPaymentRequest: NSObject {
  public var paymentDescription: String
  public var regularBilling: PKRecurringPaymentSummaryItem
  public var trialBilling: PKRecurringPaymentSummaryItem?
  public var billingAgreement: String?
  public var managementURL: URL
  public var tokenNotificationURL: URL?

  public init(paymentDescription: String, regularBilling: PKRecurringPaymentSummaryItem, managementURL: URL) {
    (self.paymentDescription, self.regularBilling, self.managementURL) =
      (paymentDescription, regularBilling, managementURL)
  }
}

open class PKAutomaticReloadPaymentRequest: NSObject {
  public var paymentDescription: String
  public var automaticReloadBilling: PKAutomaticReloadPaymentSummaryItem
  public var billingAgreement: String?
  public var managementURL: URL
  public var tokenNotificationURL: URL?

  public init(
    paymentDescription: String, automaticReloadBilling: PKAutomaticReloadPaymentSummaryItem, managementURL: URL
  ) {
    (self.paymentDescription, self.automaticReloadBilling, self.managementURL) =
      (paymentDescription, automaticReloadBilling, managementURL)
  }
}

open class PKDeferredPaymentRequest: NSObject {
  public var paymentDescription: String
  public var deferredBilling: PKDeferredPaymentSummaryItem
  public var billingAgreement: String?
  public var managementURL: URL
  public var tokenNotificationURL: URL?
  public var freeCancellationDate: Date?
  public var freeCancellationDateTimeZone: TimeZone?

  public init(paymentDescription: String, deferredBilling: PKDeferredPaymentSummaryItem, managementURL: URL) {
    (self.paymentDescription, self.deferredBilling, self.managementURL) =
      (paymentDescription, deferredBilling, managementURL)
  }
}

open class PKContact: NSObject {
  public var name: PersonNameComponents?
  public var postalAddress: CNPostalAddress?
  public var emailAddress: String?
  public var phoneNumber: CNPhoneNumber?

  public override init() {}
}

open class PKPaymentRequest: NSObject {
  public var merchantIdentifier = ""
  public var countryCode = ""
  public var currencyCode = ""
  public var supportedNetworks: [PKPaymentNetwork] = []
  public var merchantCapabilities: PKMerchantCapability = []
  public var paymentSummaryItems: [PKPaymentSummaryItem] = []
  public var supportsCouponCode = false
  public var couponCode: String?
  public var shippingContactEditingMode: PKShippingContactEditingMode = .available
  public var requiredBillingContactFields: Set<PKContactField> = []
  public var requiredShippingContactFields: Set<PKContactField> = []
  public var billingContact: PKContact?
  public var shippingContact: PKContact?
  public var shippingMethods: [PKShippingMethod]?
  public var shippingType: PKShippingType = .shipping
  public var applicationData: Data?
  public var supportedCountries: Set<String>?
  public var merchantCategoryCode: MerchantCategoryCode?
  public var recurringPaymentRequest: PKRecurringPaymentRequest?
  public var automaticReloadPaymentRequest: PKAutomaticReloadPaymentRequest?
  public var deferredPaymentRequest: PKDeferredPaymentRequest?

  public override init() {}

  public struct MerchantCategoryCode: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int16
    public init(rawValue: Int16) { self.rawValue = rawValue }
  }

  public class func availableNetworks() -> [PKPaymentNetwork] { SandboxWallet.networks }
}
