// swift-tools-version: 6.2
import PackageDescription

// An app as it would use Tender: it takes the app kit alone, and no other package is resolved for it.
// `scripts/test-app-kit` proves both.
let package = Package(
  name: "AppKitHost",
  platforms: [.macOS(.v15), .iOS(.v16)],
  dependencies: [.package(name: "tender", path: "../../..", traits: [])],
  targets: [
    .testTarget(
      name: "AppKitHostTests",
      dependencies: [.product(name: "TenderCheckout", package: "tender")],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
