#if canImport(PassKit)
  public import PassKit
  public import TenderCheckoutAPI
  public import TenderPayments
  import Foundation
  import TenderSheet

  extension AuthorizedPayment {
    /// The payment that PassKit passes when the shopper authorizes.
    public init(_ payment: PKPayment) {
      let (token, method) = (payment.token, payment.token.paymentMethod)
      self.init(
        paymentData: Array(token.paymentData), transactionIdentifier: token.transactionIdentifier,
        displayName: method.displayName, network: method.network?.rawValue,
        methodType: PaymentMethodType(method.type), shippingMethod: payment.shippingMethod?.identifier,
        shippingContact: payment.shippingContact.map(ContactConverter.full),
        billingContact: payment.billingContact.map(ContactConverter.full))
    }
  }

  extension PaymentMethodType {
    /// The kind of card, as far as the device reports it.
    public init(_ type: PKPaymentMethodType) {
      switch type {
      case .credit: self = .credit
      case .debit: self = .debit
      case .prepaid: self = .prepaid
      case .store: self = .store
      default: self = .unknown
      }
    }
  }

  extension AuthorizationAnswer {
    /// The authorization result for PassKit's sheet.
    public var passKit: PKPaymentAuthorizationResult {
      switch completion {
      case .success:
        let result = PKPaymentAuthorizationResult(status: .success, errors: nil)
        result.orderDetails = tracking?.passKit
        return result
      case .failure(let errors):
        return PKPaymentAuthorizationResult(status: .failure, errors: errors.map(\.passKit))
      }
    }
  }

  extension OrderTracking {
    /// Nil when the web service's URL is invalid.
    public var passKit: PKPaymentOrderDetails? {
      guard let url = URL(string: webServiceURL), url.scheme == "https" else { return nil }
      return PKPaymentOrderDetails(
        orderTypeIdentifier: orderTypeIdentifier, orderIdentifier: orderIdentifier, webServiceURL: url,
        authenticationToken: authenticationToken)
    }
  }

  /// The merchant session that a Mac asks for.
  enum MerchantSession {
    /// - Parameter bytes: what Apple's gateway answered, unchanged; nil when there is none.
    static func update(_ bytes: [UInt8]?) -> PKPaymentRequestMerchantSessionUpdate {
      let object = bytes.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) }
      guard let members = object as? [String: Any] else {
        return PKPaymentRequestMerchantSessionUpdate(status: .failure, merchantSession: nil)
      }
      return PKPaymentRequestMerchantSessionUpdate(
        status: .success, merchantSession: PKPaymentMerchantSession(dictionary: members))
    }
  }
#endif
