public import Foundation

@MainActor open class PKPaymentButton: NSObject {
  public let type: PKPaymentButtonType
  public let style: PKPaymentButtonStyle

  public init(paymentButtonType type: PKPaymentButtonType, paymentButtonStyle style: PKPaymentButtonStyle) {
    (self.type, self.style) = (type, style)
  }
}

public enum PKPaymentButtonType: Int, Sendable {
  case plain = 0, buy, setUp, inStore, donate, checkout, book, subscribe, reload, addMoney, topUp, order, rent, support
  case contribute, tip, `continue`
}

public enum PKPaymentButtonStyle: Int, Sendable { case white = 0, whiteOutline, black, automatic }

/// On Apple's platforms Foundation has it.
open class NSUserActivity: NSObject {
  public let activityType: String
  public var title: String?
  public var userInfo: [AnyHashable: Any]?
  public var isEligibleForHandoff = true
  public var isEligibleForSearch = false

  public init(activityType: String) { self.activityType = activityType }
}
