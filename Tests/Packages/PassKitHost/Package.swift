// swift-tools-version: 6.2
import PackageDescription

// The app kit against stubs of PassKit, SwiftUI and Apple's cryptography, on Linux: every module that goes into apps, its very sources, by symlink.
//
// Only here do modules of the names PassKit and SwiftUI exist beside them; in the root package they would leak into every
// target's `canImport`. `scripts/test-app-kit` builds and runs this package. Never build it on a platform that has PassKit.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The example, as a new project of Xcode compiles it: with and without everything on the main actor.
func example(_ name: String, _ more: [SwiftSetting] = []) -> Target {
  .executableTarget(
    name: name,
    dependencies: ["SwiftUI", "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments"],
    swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)] + more)
}

let package = Package(
  name: "PassKitHost",
  platforms: [.macOS(.v15), .iOS(.v16)],
  targets: [
    module("TenderPayments"),
    module("StrictJSON"),
    module("TenderSheet", ["TenderPayments"]),
    module("TenderCheckoutAPI", ["TenderSheet", "TenderPayments", "StrictJSON"]),
    module(
      "TenderCheckout",
      [
        "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "PassKit", "SwiftUI", "Security",
        "CommonCrypto", "CryptoKit",
      ]),
    module("PassKit"),
    module("SwiftUI", ["PassKit"]),
    module("Security"),
    module("CommonCrypto"),
    module("CryptoKit"),
    module("TenderTesting"),
    // The unit tests of the root package, once more: in a debug build, where SimulatedPayments exists, and measured.
    .testTarget(
      name: "TenderCheckoutTests",
      dependencies: [
        "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "TenderTesting",
      ], swiftSettings: settings),
    .testTarget(
      name: "PassKitHostTests",
      dependencies: [
        "TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "TenderTesting",
        "PassKit", "SwiftUI",
      ], swiftSettings: settings),
    // The rules of the sheet too: they are half of what an app runs.
    .testTarget(
      name: "TenderSheetTests", dependencies: ["TenderSheet", "TenderPayments", "TenderTesting"],
      swiftSettings: settings),
    example("iOSShop"),
    example("iOSShopOnMainActor", [.defaultIsolation(MainActor.self)]),
  ]
)
