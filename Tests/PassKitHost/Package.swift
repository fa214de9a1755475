// swift-tools-version: 6.2
import PackageDescription

// The app kit against stubs of PassKit and SwiftUI, on Linux: every room that goes into apps, its very sources, by symlink.
//
// Only here do modules of the names PassKit and SwiftUI exist beside them; in the root package they would leak into every
// target's `canImport`. `scripts/test-app-kit` builds and runs this package. Never build it on a platform that has PassKit.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: house)
}

/// The example, as a new project of Xcode compiles it: with and without everything on the main actor.
func example(_ name: String, _ settings: [SwiftSetting] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["SwiftUI", "TenderPassKit", "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments"],
    swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + settings)
}

let package = Package(
  name: "PassKitHost",
  platforms: [.macOS(.v15), .iOS(.v16)],
  targets: [
    room("TenderPayments"),
    room("StrictJSON"),
    room("TenderSheet", ["TenderPayments"]),
    room("TenderCheckoutAPI", ["TenderSheet", "TenderPayments", "StrictJSON"]),
    room("TenderCheckout", ["TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON"]),
    room(
      "TenderPassKit",
      ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "PassKit", "SwiftUI"]),
    room("PassKit"),
    room("SwiftUI", ["PassKit"]),
    room("TenderTesting"),
    // The unit tests of the root package, once more: in a debug build, where SimulatedPayments exists, and measured.
    .testTarget(
      name: "TenderCheckoutTests",
      dependencies: [
        "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "TenderTesting",
      ], swiftSettings: house),
    .testTarget(
      name: "PassKitHostTests",
      dependencies: [
        "TenderPassKit", "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON",
        "PassKit", "SwiftUI",
      ], swiftSettings: house),
    // The rules of the sheet too: they are half of what an app runs.
    .testTarget(
      name: "TenderSheetTests", dependencies: ["TenderSheet", "TenderPayments", "TenderTesting"], swiftSettings: house),
    example("iOSShop"),
    example("iOSShopOnMainActor", [.defaultIsolation(MainActor.self)]),
  ]
)
