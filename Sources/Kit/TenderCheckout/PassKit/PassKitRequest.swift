#if canImport(PassKit)
  import Foundation
  public import PassKit
  import TenderPayments
  public import TenderSheet

  extension PaymentRequest {
    /// The request for PassKit.
    ///
    /// - Parameter merchantIdentifier: as in the app's entitlement.
    public func passKit(merchantIdentifier: String) -> PKPaymentRequest {
      let request = PKPaymentRequest()
      request.merchantIdentifier = merchantIdentifier
      request.countryCode = countryCode
      request.currencyCode = currency.code
      request.supportedNetworks = supportedNetworks.map(\.passKit)
      request.merchantCapabilities = PKMerchantCapability(merchantCapabilities.map(\.passKit))
      request.paymentSummaryItems = summaryItems.map(\.passKit)
      request.requiredShippingContactFields = Set(requiredShippingContactFields.map(\.passKit))
      request.requiredBillingContactFields = Set(requiredBillingContactFields.map(\.passKit))
      if let shippingType { request.shippingType = shippingType.passKit }
      if !shippingMethods.isEmpty { request.shippingMethods = shippingMethods.map(\.passKit) }
      if let shippingContactEditingMode { request.shippingContactEditingMode = shippingContactEditingMode.passKit }
      if !applicationData.isEmpty { request.applicationData = Data(applicationData) }
      if !supportedCountries.isEmpty { request.supportedCountries = Set(supportedCountries) }
      if #available(iOS 18, macOS 15, *), let code = merchantCategoryCode.flatMap(Int16.init) {
        request.merchantCategoryCode = PKPaymentRequest.MerchantCategoryCode(rawValue: code)
      }
      request.supportsCouponCode = supportsCouponCode
      request.couponCode = couponCode
      agreement?.put(into: request)
      return request
    }
  }

  extension MerchantCapability {
    var passKit: PKMerchantCapability {
      switch self {
      case .supports3DS: .threeDSecure
      case .supportsCredit: .credit
      case .supportsDebit: .debit
      case .supportsEMV: .emv
      }
    }
  }

  extension ContactField {
    var passKit: PKContactField {
      switch self {
      case .postalAddress: .postalAddress
      case .name: .name
      case .phone: .phoneNumber
      case .email: .emailAddress
      case .phoneticName: .phoneticName
      }
    }
  }

  extension ShippingType {
    var passKit: PKShippingType {
      switch self {
      case .shipping: .shipping
      case .delivery: .delivery
      case .storePickup: .storePickup
      case .servicePickup: .servicePickup
      }
    }
  }

  extension ContactEditingMode {
    var passKit: PKShippingContactEditingMode {
      switch self {
      case .available: .available
      case .storePickup: .storePickup
      }
    }
  }
#endif
