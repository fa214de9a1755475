public import TenderPayments
public import TenderSheet

/// A payment that was begun on a watch and goes on on the phone: what the activity between the two carries.
///
/// A pure value. Where there is PassKit, an extension makes an `NSUserActivity` of it, and reads it from one.
public struct PaymentHandoff: Sendable, Hashable {
  /// As it stands in the app's `NSUserActivityTypes`.
  public static let activityType = "io.tender.payment"
  /// Raised when the members change.
  public static let version = "1"

  /// The basket to pay.
  public let basket: BasketID
  /// What the merchant does with the goods.
  public let service: ServiceType
  /// What the phone's lock screen may say: the shop's name, never an amount or an address.
  public let title: String

  /// A payment to go on with on another device.
  public init(basket: BasketID, service: ServiceType, title: String) {
    self.basket = basket
    self.service = service
    self.title = title
  }

  /// The activity's `userInfo`.
  public var userInfo: [String: String] {
    ["version": Self.version, "basket": basket.rawValue, "service": service.rawValue, "title": title]
  }

  /// Nil for an activity of another kind or version, or one that lacks something: it came over the air.
  public init?(activityType: String, userInfo: [String: String]) {
    guard activityType == Self.activityType, userInfo["version"] == Self.version,
      let basket = userInfo["basket"], !basket.isEmpty, basket.utf8.count <= 128,
      let service = userInfo["service"].flatMap(ServiceType.init(rawValue:))
    else { return nil }
    self.init(basket: BasketID(basket), service: service, title: userInfo["title"] ?? "")
  }
}
