import Acquiring
import TenderPayments

/// `fees.yaml` beside a `connector.yaml`: what payments cost at this route.
struct FeesFile: Sendable {
  var fees: [FeeRule] = []

  static let table = SettingsTable(
    FeesFile(),
    [Setting("fees", .list(of: .feeRule), \.fees, "What payments cost at this route; the first that fits counts.")])
}

extension SettingType<FeeRule> {
  fileprivate static let feeRule = SettingType(
    wanted: "a share, a fixed amount and conditions, such as “basisPoints=120 fixed=0.10 currency=EUR network=visa”",
    example: "basisPoints=120",
    read: { texts throws(UnfitValue) in
      do throws(RouteRuleError) { return try FeeRule(texts[0]) } catch {
        throw UnfitValue(found: "“\(texts[0])”: \(error)")
      }
    }, text: { "\($0)" })
}
