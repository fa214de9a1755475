#if canImport(PassKit)
  // On Apple's platforms Foundation has `NSUserActivity`; elsewhere the stub of PassKit does.
  #if canImport(Darwin)
    public import Foundation
  #else
    public import PassKit
  #endif

  extension PaymentHandoff {
    /// The activity to begin on the watch. It is handed to the shopper's own devices only.
    public var userActivity: NSUserActivity {
      let activity = NSUserActivity(activityType: Self.activityType)
      activity.title = title
      activity.userInfo = userInfo
      activity.isEligibleForHandoff = true
      activity.isEligibleForSearch = false
      return activity
    }

    /// Nil for an activity of another kind.
    public init?(_ activity: NSUserActivity) {
      let members = activity.userInfo?.compactMap { key, value in
        (key as? String).flatMap { key in (value as? String).map { (key, $0) } }
      }
      self.init(
        activityType: activity.activityType,
        userInfo: Dictionary(members ?? [], uniquingKeysWith: { first, _ in first }))
    }
  }
#endif
