public import Foundation

open class PKPaymentAuthorizationController: NSObject {
  public weak var delegate: (any PKPaymentAuthorizationControllerDelegate)?
  let request: PKPaymentRequest
  private let wallet = SandboxWallet.current

  public init(paymentRequest request: PKPaymentRequest) { self.request = request }

  public class func canMakePayments() -> Bool { SandboxWallet.current.canMakePayments }

  public class func canMakePayments(usingNetworks networks: [PKPaymentNetwork]) -> Bool {
    canMakePayments(usingNetworks: networks, capabilities: .threeDSecure)
  }

  public class func canMakePayments(
    usingNetworks networks: [PKPaymentNetwork], capabilities: PKMerchantCapability
  ) -> Bool {
    SandboxWallet.current.hasCard(networks, capabilities)
  }

  /// Apple's is not isolated to the main actor; the adapter calls it there, and the stub's sheet lives there.
  @MainActor public func present(completion: ((Bool) -> Void)? = nil) {
    let isShown = wallet.show(self)
    completion?(isShown)
  }

  @MainActor public func dismiss(completion: (() -> Void)? = nil) {
    wallet.takeAway(self)
    completion?()
  }
}

/// Apple's protocol is Objective-C's, with optional methods; here they have the defaults that PassKit behaves by.
@MainActor public protocol PKPaymentAuthorizationControllerDelegate: NSObjectProtocol {
  func paymentAuthorizationControllerDidFinish(_ controller: PKPaymentAuthorizationController)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController, didAuthorizePayment payment: PKPayment,
    handler completion: @escaping (PKPaymentAuthorizationResult) -> Void)
  func paymentAuthorizationControllerWillAuthorizePayment(_ controller: PKPaymentAuthorizationController)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController, didSelectPaymentMethod paymentMethod: PKPaymentMethod,
    handler completion: @escaping (PKPaymentRequestPaymentMethodUpdate) -> Void)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController, didSelectShippingContact contact: PKContact,
    handler completion: @escaping (PKPaymentRequestShippingContactUpdate) -> Void)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController, didSelectShippingMethod shippingMethod: PKShippingMethod,
    handler completion: @escaping (PKPaymentRequestShippingMethodUpdate) -> Void)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController, didChangeCouponCode couponCode: String,
    handler completion: @escaping (PKPaymentRequestCouponCodeUpdate) -> Void)
  func paymentAuthorizationController(
    _ controller: PKPaymentAuthorizationController,
    didRequestMerchantSessionUpdate handler: @escaping (PKPaymentRequestMerchantSessionUpdate) -> Void)
}

extension PKPaymentAuthorizationControllerDelegate {
  public func paymentAuthorizationControllerWillAuthorizePayment(_ controller: PKPaymentAuthorizationController) {}
}

open class PKPassLibrary: NSObject {
  public override init() {}
  public class func isPassLibraryAvailable() -> Bool { SandboxWallet.current.hasLibrary }
  public func openPaymentSetup() { SandboxWallet.current.openSetUp() }
}
