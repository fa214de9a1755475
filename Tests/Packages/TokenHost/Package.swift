// swift-tools-version: 6.2
import PackageDescription

// A server as it would use the payment token library alone: it takes one product, and two packages of others are resolved
// for it. `scripts/test-token-library` proves both.
let package = Package(
  name: "TokenHost",
  platforms: [.macOS(.v15)],
  dependencies: [
    // README: begin
    .package(name: "tender", path: "../../..", traits: ["PaymentToken"])
    // README: end
  ],
  targets: [
    .testTarget(
      name: "TokenHostTests",
      dependencies: [
        // README: begin
        .product(name: "ApplePayToken", package: "tender")
        // README: end
      ],
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
  ]
)
