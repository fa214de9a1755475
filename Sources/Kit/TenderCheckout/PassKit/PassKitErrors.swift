#if canImport(PassKit)
  import PassKit
  public import TenderSheet

  #if canImport(Contacts)
    import Contacts
  #endif

  extension SheetError {
    /// The error that PassKit shows at the right field.
    public var passKit: any Error {
      switch self {
      case .shippingContactInvalid(let field, let message): Self.shipping(field, message)
      case .billingContactInvalid(let field, let message): Self.billing(field, message)
      case .addressUnserviceable(let message):
        PKPaymentRequest.paymentShippingAddressUnserviceableError(withLocalizedDescription: message)
      case .couponCodeInvalid(let message):
        PKPaymentRequest.paymentCouponCodeInvalidError(localizedDescription: message)
      case .couponCodeExpired(let message):
        PKPaymentRequest.paymentCouponCodeExpiredError(localizedDescription: message)
      case .unknown: PKPaymentError(.unknownError)
      }
    }

    private static func shipping(_ field: ErrorContactField?, _ message: String) -> any Error {
      if let key = field?.addressKey {
        return PKPaymentRequest.paymentShippingAddressInvalidError(withKey: key, localizedDescription: message)
      }
      return PKPaymentRequest.paymentContactInvalidError(
        withContactField: field?.contactField ?? .postalAddress, localizedDescription: message)
    }

    /// PassKit has billing errors for parts of the address alone; anything else is marked at the street.
    private static func billing(_ field: ErrorContactField?, _ message: String) -> any Error {
      PKPaymentRequest.paymentBillingAddressInvalidError(
        withKey: field?.addressKey ?? CNPostalAddressStreetKey, localizedDescription: message)
    }
  }

  extension ErrorContactField {
    fileprivate var addressKey: String? {
      switch self {
      case .addressLines: CNPostalAddressStreetKey
      case .locality: CNPostalAddressCityKey
      case .subLocality: CNPostalAddressSubLocalityKey
      case .postalCode: CNPostalAddressPostalCodeKey
      case .administrativeArea: CNPostalAddressStateKey
      case .subAdministrativeArea: CNPostalAddressSubAdministrativeAreaKey
      case .country: CNPostalAddressCountryKey
      case .countryCode: CNPostalAddressISOCountryCodeKey
      case .phoneNumber, .emailAddress, .name, .phoneticName, .postalAddress: nil
      }
    }

    fileprivate var contactField: PKContactField {
      switch self {
      case .phoneNumber: .phoneNumber
      case .emailAddress: .emailAddress
      case .name: .name
      case .phoneticName: .phoneticName
      default: .postalAddress
      }
    }
  }
#endif
