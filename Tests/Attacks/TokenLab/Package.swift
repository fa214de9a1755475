// swift-tools-version: 6.2
import PackageDescription

// The payment token modules alone, in a package that builds in a minute: for suites that build them many times with a
// mutant (`make seeded-bugs`), or with libFuzzer (`make fuzz`). The sources are the package's own.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"), .enableUpcomingFeature("MemberImportVisibility"),
]

/// Fuzz targets have no `main`: libFuzzer brings its own loop.
let isFuzzing = Context.environment["TENDER_FUZZ"] != nil
let instrumented: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"])] : []

let crypto: [Target.Dependency] = [
  .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings + instrumented)
}

func fuzzer(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["ApplePayToken", "FuzzDriver", "StrictJSON", "TenderPayments", "TokenVectors"],
    swiftSettings: settings + instrumented, linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
}

let fuzzers = ["cms", "certificate", "token-json", "payload", "strict-json", "whole-token"].map { fuzzer("fuzz-\($0)") }

let package = Package(
  name: "TokenLab",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/apple/swift-crypto", from: "4.5.2")],
  targets: [
    module("TenderPayments"),
    module("StrictJSON", ["TenderPayments"]),
    module("ApplePayToken", ["StrictJSON", "TenderPayments"] + crypto, exclude: ["README.md"]),
    module("TokenVectors", ["ApplePayToken", "StrictJSON", "TenderPayments"]),
  ]
    + (isFuzzing
      ? fuzzers + [.target(name: "FuzzDriver")]
      : [
        .executableTarget(
          name: "run-vectors", dependencies: ["TokenVectors", "ApplePayToken", "TenderPayments"],
          swiftSettings: settings)
      ])
)
