// swift-tools-version: 6.2
import PackageDescription

// The house's habits, switched on from the first commit.
let house: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A product of another package. Each stands behind the trait `Server`, so that an app that takes the ◆ rooms with
/// `traits: []` resolves Tender alone. What ApplePayToken needs is behind a trait of its own, which `Server` switches on:
/// who takes that library alone, with `traits: ["PaymentToken"]`, resolves swift-crypto and what it needs, and no more.
func server(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

func room(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .target(name: name, dependencies: dependencies, exclude: exclude, swiftSettings: house, plugins: plugins)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: house)
}

func benchmark(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: "Benchmarks/\(name)", swiftSettings: house)
}

func token(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["PaymentToken"]))
}

let crypto = server("Crypto", "swift-crypto")
let cryptoExtras = server("CryptoExtras", "swift-crypto")
let asn1 = server("SwiftASN1", "swift-asn1")
let x509 = server("X509", "swift-certificates")
let asyncHTTPClient = server("AsyncHTTPClient", "async-http-client")
let nioCore = server("NIOCore", "swift-nio")
let nioPosix = server("NIOPosix", "swift-nio")
let nioHTTP1 = server("NIOHTTP1", "swift-nio")
let nioEmbedded = server("NIOEmbedded", "swift-nio")
let nioFoundation = server("NIOFoundationCompat", "swift-nio")
let nioHTTPTypes = server("NIOHTTPTypes", "swift-nio-extras")
let nioSSL = server("NIOSSL", "swift-nio-ssl")
let hummingbird = server("Hummingbird", "hummingbird")
let hummingbirdCore = server("HummingbirdCore", "hummingbird")
let hummingbirdTLS = server("HummingbirdTLS", "hummingbird")
let hummingbirdTesting = server("HummingbirdTesting", "hummingbird")
let httpTypes = server("HTTPTypes", "swift-http-types")
let grdb = server("GRDB", "GRDB.swift")
let sqlite = server("GRDBSQLite", "GRDB.swift")
let arguments = server("ArgumentParser", "swift-argument-parser")
let configuration = server("Configuration", "swift-configuration")
let logging = server("Logging", "swift-log")
let lifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
let unixSignals = server("UnixSignals", "swift-service-lifecycle")
let mustache = server("Mustache", "swift-mustache")
let jwt = server("JWTKit", "jwt-kit")
let systemPackage = server("SystemPackage", "swift-system")
let yams = server("Yams", "Yams")

let package = Package(
  name: "tender",
  platforms: [.macOS(.v15), .iOS(.v16)],
  products: [
    .executable(name: "tender", targets: ["TenderCLI"]),
    .library(name: "ApplePayToken", targets: ["ApplePayToken"]),
    .library(name: "TenderPayments", targets: ["TenderPayments"]),
    .library(name: "TenderSheet", targets: ["TenderSheet"]),
    .library(name: "TenderCheckoutAPI", targets: ["TenderCheckoutAPI"]),
    // What an app takes: every ◆ room.
    .library(
      name: "TenderCheckout",
      targets: ["TenderCheckout", "TenderPassKit", "TenderCheckoutAPI", "TenderSheet", "TenderPayments"]),
  ],
  traits: [
    .default(enabledTraits: ["Server"]),
    .trait(
      name: "Server", description: "Everything but the app kit: server, gateway, sandbox, command line",
      enabledTraits: ["PaymentToken"]),
    .trait(name: "PaymentToken", description: "The library that verifies and decrypts payment tokens, alone"),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: ["YAML"]),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // Ground
    room("TenderPayments"),
    room("StrictJSON"),
    room("HTTPTransport", [asyncHTTPClient, nioCore, nioPosix, nioSSL, nioHTTP1]),
    room("Storage", ["TenderPayments", grdb, sqlite]),

    // Skills
    room(
      "ApplePayToken",
      ["StrictJSON", "TenderPayments", token("Crypto", "swift-crypto"), token("CryptoExtras", "swift-crypto")],
      exclude: ["README.md"]),
    room("KeyAgent", ["ApplePayToken", "TenderPayments"]),
    room("MerchantIdentity", ["HTTPTransport", "StrictJSON", "TenderPayments", crypto, cryptoExtras, asn1, x509]),
    room("Acquiring", ["HTTPTransport", "StrictJSON", "TenderPayments", crypto]),
    room("Ledger", ["Storage", "TenderPayments", crypto]),
    room("Webhooks", ["Ledger", "HTTPTransport", "StrictJSON", "Storage", "TenderPayments", crypto]),
    room("TenderSheet", ["TenderPayments"]),
    room("TenderCheckoutAPI", ["TenderSheet", "TenderPayments", "StrictJSON"]),
    room("PlatformAPI", ["TenderPayments", crypto]),

    // Decisions
    room("Gateway", ["ApplePayToken", "Acquiring", "Ledger", "Storage", "TenderPayments"]),
    room(
      "Orders",
      [
        "Gateway", "Acquiring", "ApplePayToken", "Ledger", "Storage", "TenderSheet", "TenderPayments", "PlatformAPI",
        "HTTPTransport", "StrictJSON", crypto, jwt,
      ]),
    room("TenderCheckout", ["TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON"]),
    room("TenderPassKit", ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments"]),

    // Doors
    room(
      "Sandbox",
      [
        "ApplePayToken", "TenderSheet", "TenderPayments", "StrictJSON", "Storage", crypto, cryptoExtras, asn1, x509,
        hummingbird, hummingbirdTLS, httpTypes, nioCore, nioSSL, nioFoundation, mustache, logging, lifecycle,
      ], plugins: ["EmbedWeb"]),
    room(
      "TenderServer",
      [
        "Orders", "Gateway", "ApplePayToken", "KeyAgent", "MerchantIdentity", "Acquiring", "Ledger", "Webhooks",
        "TenderSheet",
        "TenderCheckoutAPI", "PlatformAPI", "TenderPayments", "StrictJSON", "HTTPTransport", "Storage", crypto,
        hummingbird, hummingbirdCore, hummingbirdTLS, httpTypes, nioCore, nioHTTP1, nioHTTPTypes, nioSSL, nioFoundation,
        configuration, systemPackage, logging, lifecycle, yams,
      ], plugins: ["EmbedWeb"]),
    room(
      "DemoShop",
      [
        "PlatformAPI", "HTTPTransport", "TenderPayments", "StrictJSON", hummingbird, httpTypes, nioCore, logging,
        lifecycle,
      ], plugins: ["EmbedWeb"]),
    // `prctl` has variadic arguments, with which Swift cannot call it.
    .target(name: "CProcessMemory"),
    .executableTarget(
      name: "TenderCLI",
      dependencies: [
        "CProcessMemory", "TenderServer", "Sandbox", "DemoShop", "Orders", "Gateway", "ApplePayToken", "KeyAgent",
        "MerchantIdentity", "Acquiring", "Ledger", "Webhooks", "TenderSheet", "TenderCheckoutAPI", "PlatformAPI",
        "TenderPayments",
        "StrictJSON", "HTTPTransport",
        "Storage", arguments, crypto, x509, logging, lifecycle, unixSignals, configuration, nioCore, nioPosix,
      ], swiftSettings: house),

    // Text files of `Web/` become string constants of the module that serves them.
    .plugin(name: "EmbedWeb", capability: .buildTool(), dependencies: ["embed-web"]),
    .executableTarget(name: "embed-web", path: "Plugins/embed-web", swiftSettings: house),

    // What is measured: `make bench`
    benchmark("TenderBench", ["ApplePayToken", "TokenVectors", "TenderPayments", crypto]),
    benchmark(
      "PaymentBench",
      [
        "LoadGenerator", "CostFuzzer", "Sandbox", "TenderServer", "TenderTesting", "ApplePayToken", "Acquiring",
        "Ledger", "Storage",
        "PlatformAPI", "HTTPTransport", "StrictJSON", "TenderPayments", nioCore, nioPosix, logging,
      ]),
    // Calls at a schedule that is kept whatever the server does.
    .target(
      name: "LoadGenerator", dependencies: [nioCore, nioPosix], path: "Benchmarks/LoadGenerator", swiftSettings: house),

    // Test support and tests
    .target(
      name: "TenderTesting",
      dependencies: ["Acquiring", "TenderPayments", "StrictJSON", "Storage"], path: "Tests/TenderTesting",
      swiftSettings: house),
    // Attacks on the gateway, and the auditor that judges what came of them: docs/reliability.md.
    .target(name: "Auditing", dependencies: ["Storage", "StrictJSON"], path: "Tests/Auditing", swiftSettings: house),
    .target(
      name: "Simulation",
      dependencies: [
        "Auditing", "Orders", "Gateway", "Acquiring", "ApplePayToken", "Ledger", "Webhooks", "HTTPTransport",
        "PlatformAPI", "Storage", "StrictJSON", "TenderPayments", "TenderSheet", "TenderTesting", "Sandbox", crypto,
        asn1, x509,
      ], path: "Tests/Simulation", swiftSettings: house),
    .executableTarget(
      name: "payment-simulator", dependencies: ["Auditing", "Simulation"], path: "Tests/simulate", swiftSettings: house),
    .executableTarget(
      name: "payment-auditor", dependencies: ["Auditing", "Ledger", "Storage", "StrictJSON", "TenderPayments"],
      path: "Tests/audit", swiftSettings: house),
    // `tender serve` that dies at a named point; never in a product: `scripts/crash`.
    .executableTarget(
      name: "crashing-server",
      dependencies: ["TenderServer", "Gateway", "TenderPayments", logging, lifecycle, unixSignals],
      path: "Tests/crashing-server", swiftSettings: house),
    tests("AuditingTests", ["Auditing"]),
    .target(
      name: "TokenVectors", dependencies: ["ApplePayToken", "TenderPayments", "StrictJSON"], path: "Tests/TokenVectors",
      swiftSettings: house),
    tests("TenderPaymentsTests", ["TenderPayments"]),
    tests("StrictJSONTests", ["StrictJSON", "TenderTesting"]),
    tests("HTTPTransportTests", ["HTTPTransport", "TenderPayments", nioCore, nioPosix]),
    tests("StorageTests", ["Storage", "TenderTesting", "TenderPayments"]),
    tests(
      "ApplePayTokenTests",
      [
        "ApplePayToken", "KeyAgent", "TenderTesting", "TenderPayments", "StrictJSON", "Sandbox", crypto, cryptoExtras,
        x509, asn1,
      ]),
    tests("KeyAgentTests", ["KeyAgent", "ApplePayToken", "TenderPayments", crypto]),
    tests(
      "TokenAttackTests",
      [
        "ApplePayToken", "KeyAgent", "TokenVectors", "TenderTesting", "TenderPayments", "StrictJSON", "Sandbox", crypto,
        cryptoExtras, x509, asn1,
      ]),
    tests(
      "MerchantIdentityTests",
      ["MerchantIdentity", "HTTPTransport", "TenderPayments", "TenderTesting", crypto, cryptoExtras, x509, asn1]),
    tests(
      "AcquiringTests",
      [
        "Acquiring", "HTTPTransport", "StrictJSON", "TenderPayments", "TenderTesting", "Sandbox", hummingbird,
        hummingbirdTesting,
      ]),
    tests("LedgerTests", ["Ledger", "Storage", "TenderPayments", "TenderTesting"]),
    tests(
      "WebhooksTests",
      ["Webhooks", "Ledger", "HTTPTransport", "StrictJSON", "Storage", "TenderPayments", "TenderTesting"]),
    tests("TenderSheetTests", ["TenderSheet", "TenderPayments", "TenderTesting"]),
    tests(
      "TenderCheckoutTests",
      ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "TenderTesting"]),
    tests("PlatformAPITests", ["PlatformAPI", "TenderPayments"]),
    tests(
      "GatewayTests",
      [
        "Gateway", "Acquiring", "ApplePayToken", "Ledger", "Storage", "TenderPayments", "TenderTesting", "Sandbox",
        "HTTPTransport", "Auditing", crypto, asn1, x509, hummingbird, hummingbirdTesting,
      ]),
    tests(
      "OrdersTests",
      [
        "Orders", "Acquiring", "ApplePayToken", "Gateway", "Ledger", "Storage", "PlatformAPI", "TenderSheet",
        "TenderPayments", "StrictJSON", "TenderTesting", "HTTPTransport", crypto, jwt,
      ]),
    tests(
      "SandboxTests",
      [
        "Sandbox", "ApplePayToken", "TenderPayments", "StrictJSON", "HTTPTransport", "TenderTesting", crypto,
        cryptoExtras, asn1, x509, nioCore, httpTypes, hummingbird, hummingbirdTesting, logging,
      ]),
    tests(
      "TenderServerTests",
      [
        "TenderServer", "CostFuzzer", "Acquiring", "Sandbox", "HTTPTransport", "MerchantIdentity", "PlatformAPI",
        "TenderCheckoutAPI", "TenderPayments", "StrictJSON", "Storage", "TenderTesting", "Orders", "ApplePayToken",
        "Webhooks", "Ledger", crypto, logging, httpTypes,
        hummingbirdTesting, nioCore, nioEmbedded, nioHTTPTypes,
      ]),
    tests(
      "DemoShopTests",
      [
        "DemoShop", "HTTPTransport", "PlatformAPI", "StrictJSON", "TenderPayments", hummingbird, hummingbirdTesting,
        httpTypes, nioCore,
      ]),
    tests(
      "TenderCLITests",
      [
        "Sandbox", "ApplePayToken", "KeyAgent", "Ledger", "Storage", "TenderPayments", "StrictJSON", "HTTPTransport",
        "TenderTesting", crypto, asn1, x509,
      ]),
    // Requests that are made to cost the server much, and what they cost it: docs/testing.md.
    .target(
      name: "CostFuzzer",
      dependencies: ["PlatformAPI", "StrictJSON", "TenderPayments", "TenderTesting", crypto], path: "Tests/CostFuzzer",
      swiftSettings: house),
    tests("LoadGeneratorTests", ["LoadGenerator", nioCore, nioPosix]),
    tests("HouseTests"),
  ]
)
