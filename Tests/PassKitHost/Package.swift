// swift-tools-version: 6.2
import PackageDescription

// The app kit against a stub of PassKit, on Linux: every room that goes into apps, its very sources, by symlink.
//
// Only here does a module of the name PassKit exist beside them; in the root package it would leak into every target's
// `canImport`. `scripts/test-app-kit` builds and runs this package. Never build it on a platform that has PassKit.
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

let package = Package(
  name: "PassKitHost",
  platforms: [.macOS(.v15), .iOS(.v16)],
  targets: [
    room("TenderPayments"),
    room("StrictJSON"),
    room("TenderSheet", ["TenderPayments"]),
    room("TenderCheckoutAPI", ["TenderSheet", "TenderPayments", "StrictJSON"]),
    room("TenderCheckout", ["TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON"]),
    room("TenderPassKit", ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "PassKit"]),
    room("PassKit"),
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
        "PassKit",
      ], swiftSettings: house),
  ]
)
