import Foundation

public let PKPaymentErrorDomain = "PKPaymentErrorDomain"

/// On Apple's platforms an imported NSError domain; here a struct with the same codes.
public struct PKPaymentError: Error {
  public enum Code: Int, Sendable {
    case unknownError = -1
    case shippingContactInvalidError = 1
    case billingContactInvalidError, shippingAddressUnserviceableError, couponCodeInvalidError, couponCodeExpiredError
  }

  public let code: Code
  public let contactField: PKContactField?
  public let postalAddressKey: String?
  public let message: String?

  public init(_ code: Code) { self.init(code, nil, nil, nil) }

  fileprivate init(_ code: Code, _ field: PKContactField?, _ key: String?, _ message: String?) {
    (self.code, contactField, postalAddressKey, self.message) = (code, field, key, message)
  }
}

extension PKPaymentRequest {
  public class func paymentContactInvalidError(
    withContactField field: PKContactField, localizedDescription: String?
  ) -> any Error {
    PKPaymentError(.shippingContactInvalidError, field, nil, localizedDescription)
  }

  public class func paymentShippingAddressInvalidError(
    withKey key: String, localizedDescription: String?
  ) -> any Error {
    PKPaymentError(.shippingContactInvalidError, .postalAddress, key, localizedDescription)
  }

  public class func paymentBillingAddressInvalidError(
    withKey key: String, localizedDescription: String?
  ) -> any Error {
    PKPaymentError(.billingContactInvalidError, .postalAddress, key, localizedDescription)
  }

  public class func paymentShippingAddressUnserviceableError(
    withLocalizedDescription localizedDescription: String?
  ) -> any Error {
    PKPaymentError(.shippingAddressUnserviceableError, nil, nil, localizedDescription)
  }

  public class func paymentCouponCodeInvalidError(localizedDescription: String?) -> any Error {
    PKPaymentError(.couponCodeInvalidError, nil, nil, localizedDescription)
  }

  public class func paymentCouponCodeExpiredError(localizedDescription: String?) -> any Error {
    PKPaymentError(.couponCodeExpiredError, nil, nil, localizedDescription)
  }
}
