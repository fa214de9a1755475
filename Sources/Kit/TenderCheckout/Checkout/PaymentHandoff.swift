public import TenderPayments
public import TenderSheet

/// A payment that begins on a watch and continues on the phone: the contents of the handoff activity.
///
/// With PassKit, an extension converts it to and from an `NSUserActivity`.
public struct PaymentHandoff: Sendable, Hashable {
  /// As in the app's `NSUserActivityTypes`.
  public static let activityType = "io.tender.payment"
  /// Increased when the members change.
  public static let version = "1"

  /// The basket to pay.
  public let basket: BasketID
  /// What the merchant does with the goods.
  public let service: ServiceType
  /// The text for the phone's lock screen: the shop's name, never an amount or an address.
  public let title: String

  /// A payment to continue on another device.
  public init(basket: BasketID, service: ServiceType, title: String) {
    self.basket = basket
    self.service = service
    self.title = title
  }

  /// The activity's `userInfo`.
  public var userInfo: [String: String] {
    ["version": Self.version, "basket": basket.rawValue, "service": service.rawValue, "title": title]
  }

  /// Nil for an activity of another type or version, or with missing members: the data comes from another device.
  public init?(activityType: String, userInfo: [String: String]) {
    guard activityType == Self.activityType, userInfo["version"] == Self.version,
      let basket = userInfo["basket"], !basket.isEmpty, basket.utf8.count <= 128,
      let service = userInfo["service"].flatMap(ServiceType.init(rawValue:))
    else { return nil }
    self.init(basket: BasketID(basket), service: service, title: userInfo["title"] ?? "")
  }
}
