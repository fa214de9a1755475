// swift-tools-version: 6.2
import PackageDescription

/// How every target is compiled.
let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

/// A product of another package, behind the trait `Server`: an app that takes the app kit with `traits: []` resolves
/// Tender alone.
func server(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["Server"]))
}

/// A product that ApplePayToken needs, behind a trait of its own: `traits: ["PaymentToken"]` resolves swift-crypto and
/// what it needs, and no more. `Server` switches it on.
func token(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: ["PaymentToken"]))
}

/// A module of `Sources`. Which may import which: `Tests/Unit/StructureTests/Architecture.swift`.
func module(
  _ path: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], plugins: [Target.PluginUsage] = []
) -> Target {
  .target(
    name: name(of: path), dependencies: dependencies, path: "Sources/\(path)", exclude: exclude,
    swiftSettings: settings, plugins: plugins)
}

/// The tests of a module, in `Tests`.
func tests(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(name: name(of: path), dependencies: dependencies, path: "Tests/\(path)", swiftSettings: settings)
}

/// What tests, attacks and benchmarks share.
func support(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name(of: path), dependencies: dependencies, path: path, swiftSettings: settings)
}

/// A program that is in no product.
func tool(_ path: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .executableTarget(name: name(of: path), dependencies: dependencies, path: path, swiftSettings: settings)
}

/// `TESTS="LedgerTests GatewayTests"` leaves the other modules' tests out, so that what they alone need is not built.
func areChosen(_ tests: Target) -> Bool {
  guard let names = Context.environment["TESTS"] else { return true }
  return names.split(separator: " ").contains { $0 == tests.name }
}

func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

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
let nioHTTPTypesHTTP1 = server("NIOHTTPTypesHTTP1", "swift-nio-extras")
let nioSSL = server("NIOSSL", "swift-nio-ssl")
let nioTLS = server("NIOTLS", "swift-nio")
let hummingbird = server("Hummingbird", "hummingbird")
let hummingbirdCore = server("HummingbirdCore", "hummingbird")
let hummingbirdTLS = server("HummingbirdTLS", "hummingbird")
let hummingbirdTesting = server("HummingbirdTesting", "hummingbird")
let httpTypes = server("HTTPTypes", "swift-http-types")
let grdb = server("GRDB", "GRDB.swift")
let sqlite = server("GRDBSQLite", "GRDB.swift")
let arguments = server("ArgumentParser", "swift-argument-parser")
let logging = server("Logging", "swift-log")
let lifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
let tracing = server("Tracing", "swift-distributed-tracing")
let inMemoryTracing = server("InMemoryTracing", "swift-distributed-tracing")
let unixSignals = server("UnixSignals", "swift-service-lifecycle")
let mustache = server("Mustache", "swift-mustache")
let jwt = server("JWTKit", "jwt-kit")
let yams = server("Yams", "Yams")

let package = Package(
  name: "tender",
  platforms: [.macOS(.v15), .iOS(.v16)],
  products: [
    .executable(name: "tender", targets: ["TenderCLI"]),
    // What signs payment tokens and plays Apple, banks and shops. Nothing of it is in `tender`.
    .executable(name: "tender-sandbox", targets: ["SandboxCLI"]),
    .library(name: "ApplePayToken", targets: ["ApplePayToken"]),
    // For programs in other languages: `make c-library`.
    .library(name: "applepaytoken-c", type: .dynamic, targets: ["ApplePayTokenC"]),
    .library(name: "TenderPayments", targets: ["TenderPayments"]),
    .library(name: "TenderSheet", targets: ["TenderSheet"]),
    .library(name: "TenderCheckoutAPI", targets: ["TenderCheckoutAPI"]),
    // What an app takes: every ◆ module.
    .library(
      name: "TenderCheckout",
      targets: ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments"]),
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
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    module("Base/TenderPayments"),
    module("Base/StrictJSON", ["TenderPayments"]),
    module("Base/HTTPTransport", ["StrictJSON", asyncHTTPClient, nioCore, nioPosix, nioSSL, nioHTTP1]),
    module("Base/Telemetry", ["HTTPTransport", "StrictJSON", "TenderPayments", tracing]),
    module(
      "Base/HTTPServing",
      [
        "StrictJSON", "TenderPayments", crypto, hummingbird, hummingbirdCore, httpTypes, nioCore, nioHTTP1,
        nioHTTPTypes, nioHTTPTypesHTTP1, mustache,
      ]),
    module("Base/Storage", ["TenderPayments", grdb, sqlite, crypto, "CLibPQ"]),
    .systemLibrary(
      name: "CLibPQ", path: "Sources/Base/CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    module("Base/QRCodes", ["CQRCode"]),
    .systemLibrary(name: "CQRCode", path: "Sources/Base/CQRCode", providers: [.apt(["libqrencode-dev"])]),

    module("Kit/TenderSheet", ["TenderPayments"]),
    module("Kit/TenderCheckoutAPI", ["TenderSheet", "TenderPayments", "StrictJSON"]),
    module("Kit/TenderCheckout", ["TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON"]),

    module(
      "Tokens/ApplePayToken",
      ["StrictJSON", "TenderPayments", token("Crypto", "swift-crypto"), token("CryptoExtras", "swift-crypto")],
      exclude: ["README.md"]),
    module("Tokens/TokenCalls", ["ApplePayToken", "StrictJSON", "TenderPayments"]),
    .target(name: "CApplePayToken", path: "Sources/Tokens/CApplePayToken"),
    module(
      "Tokens/ApplePayTokenC", ["CApplePayToken", "TokenCalls", "ApplePayToken", "StrictJSON", "TenderPayments"]),
    module("Tokens/KeyAgent", ["TokenCalls", "ApplePayToken", "StrictJSON", "TenderPayments", nioCore, nioPosix]),

    module("Payments/DirectWire", ["StrictJSON", "TenderPayments", crypto]),
    module(
      "Payments/Acquiring", ["DirectWire", "HTTPTransport", "StrictJSON", "Telemetry", "TenderPayments", crypto]),
    module(
      "Payments/Connectors", ["Acquiring", "DirectWire", "HTTPTransport", "StrictJSON", "TenderPayments", crypto]),
    module("Payments/Ledger", ["Storage", "Telemetry", "TenderPayments", crypto]),
    module(
      "Payments/Webhooks",
      ["DirectWire", "Ledger", "HTTPTransport", "StrictJSON", "Storage", "Telemetry", "TenderPayments", crypto]),
    module(
      "Payments/Gateway", ["ApplePayToken", "Acquiring", "Ledger", "Storage", "Telemetry", "TenderPayments", crypto]),

    module(
      "Checkout/MerchantIdentity",
      ["HTTPTransport", "Storage", "StrictJSON", "TenderPayments", crypto, cryptoExtras, asn1, nioSSL, x509]),
    module(
      "Checkout/Orders",
      [
        "Gateway", "Acquiring", "ApplePayToken", "Ledger", "Storage", "Telemetry", "TenderSheet", "TenderPayments",
        "DirectWire", "HTTPTransport", "StrictJSON", crypto, jwt,
      ]),

    module(
      "Sandbox/TokenIssuer",
      ["ApplePayToken", "TenderPayments", "StrictJSON", "Storage", crypto, cryptoExtras, asn1, x509]),
    module(
      "Sandbox/AcquirerSandbox",
      [
        "TokenIssuer", "ApplePayToken", "HTTPServing", "TenderPayments", "StrictJSON", "Storage", crypto, asn1, x509,
        hummingbird, httpTypes, nioCore, logging, lifecycle,
      ]),
    module(
      "Sandbox/ProviderEmulators",
      [
        "AcquirerSandbox", "TokenIssuer", "ApplePayToken", "DirectWire", "HTTPServing", "TenderPayments", "StrictJSON",
        "Storage", crypto, asn1, x509, hummingbird, httpTypes, nioCore, logging, lifecycle,
      ]),
    module("Sandbox/MailSandbox", ["TenderPayments", nioCore, nioPosix, nioSSL, logging, lifecycle]),
    module(
      "Sandbox/AppleSandbox",
      [
        "TokenIssuer", "AcquirerSandbox", "ProviderEmulators", "MailSandbox", "HTTPServing", "QRCodes",
        "TenderPayments", "StrictJSON", asn1,
        x509,
        hummingbird, hummingbirdTLS, httpTypes, nioCore, nioPosix, nioSSL, logging, lifecycle,
      ], plugins: ["EmbedWeb"]),
    module(
      "Sandbox/DemoShop",
      [
        "DirectWire", "HTTPServing", "HTTPTransport", "TenderPayments", "StrictJSON", crypto, hummingbird, httpTypes,
        nioCore, logging, lifecycle,
      ], plugins: ["EmbedWeb"]),

    module(
      "Server/BackOffice",
      [
        "Administration", "Settings", "QRCodes", "Orders", "MerchantIdentity", "Gateway", "Ledger", "Webhooks",
        "TenderPayments", "StrictJSON", "HTTPServing", "Storage", "Telemetry", crypto, hummingbird, hummingbirdCore,
        httpTypes,
        nioCore, logging,
      ], plugins: ["EmbedWeb"]),
    module(
      "Server/HostedCheckout",
      [
        "QRCodes", "Orders", "DirectWire", "TenderSheet", "TenderPayments", "StrictJSON", "HTTPServing", "Storage",
        crypto, hummingbird, httpTypes, nioCore,
      ], plugins: ["EmbedWeb"]),
    module(
      "Server/PlatformAPI",
      [
        "Orders", "Gateway", "ApplePayToken", "Acquiring", "Ledger", "Webhooks", "TenderSheet", "DirectWire",
        "TenderPayments", "StrictJSON", "Storage", "Telemetry", "MerchantIdentity", crypto, cryptoExtras,
      ]),
    // `curl_easy_setopt` has variadic arguments, with which Swift cannot call it.
    .target(
      name: "CMailTransfer", dependencies: ["CCurl"], path: "Sources/Server/CMailTransfer",
      linkerSettings: [.linkedLibrary("curl")]),
    .systemLibrary(
      name: "CCurl", path: "Sources/Server/CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    module(
      "Server/Mail",
      [
        "Ledger", "CMailTransfer", "MerchantIdentity", "Webhooks", "DirectWire", "TenderSheet", "TenderPayments",
        "StrictJSON", "HTTPTransport", "Storage",
      ]),
    module(
      "Server/Settings",
      [
        "HostedCheckout", "Mail", "Orders", "Gateway", "ApplePayToken", "KeyAgent", "MerchantIdentity", "Acquiring",
        "Connectors", "Ledger", "Webhooks", "TenderSheet", "DirectWire", "TenderPayments", "StrictJSON",
        "HTTPTransport", "Storage", crypto, nioSSL, logging, yams,
      ]),
    module(
      "Server/Administration",
      [
        "Settings", "HostedCheckout", "PlatformAPI", "Mail", "Orders", "Gateway", "ApplePayToken", "MerchantIdentity",
        "Acquiring", "Connectors", "Ledger", "Webhooks", "TenderSheet", "DirectWire", "TenderPayments", "StrictJSON",
        "HTTPServing", "HTTPTransport", "Storage", "Telemetry", crypto, cryptoExtras, httpTypes, logging,
      ]),
    module(
      "Server/Doctor",
      [
        "Administration", "Settings", "Mail", "Acquiring", "ApplePayToken", "Gateway", "KeyAgent", "Ledger",
        "MerchantIdentity", "Webhooks", "DirectWire", "TenderPayments", "StrictJSON", "HTTPTransport", "Storage",
        crypto,
        cryptoExtras, asn1, x509, nioCore, nioPosix, nioSSL, nioTLS, logging,
      ]),
    module(
      "Server/TenderServer",
      [
        "Doctor", "Administration", "BackOffice", "Settings", "PlatformAPI", "HostedCheckout", "Mail", "Orders",
        "Gateway",
        "ApplePayToken",
        "KeyAgent",
        "MerchantIdentity", "Acquiring", "Connectors", "Ledger", "Webhooks",
        "TenderSheet", "TenderCheckoutAPI", "DirectWire", "TenderPayments", "StrictJSON", "HTTPServing",
        "HTTPTransport", "Storage", "Telemetry",
        crypto, cryptoExtras, asn1, x509, hummingbird, hummingbirdCore, hummingbirdTLS, httpTypes, nioCore, nioHTTP1,
        nioHTTPTypes, nioPosix, nioSSL, nioTLS, nioFoundation, logging, lifecycle, "CZlib",
      ], plugins: ["EmbedWeb"]),

    // `prctl` has variadic arguments, with which Swift cannot call it.
    .target(name: "CProcessMemory", path: "Sources/CommandLine/CProcessMemory"),
    // The commit is known to one file of C alone: with another, next to nothing is compiled again.
    .target(
      name: "CBuild", path: "Sources/CommandLine/CBuild",
      cSettings: Context.environment["TENDER_COMMIT"].map { [.define("TENDER_COMMIT", to: "\"\($0)\"")] }),
    module(
      "CommandLine/CommandSupport",
      [
        "CBuild", "TenderServer", "Administration", "Settings", "ApplePayToken", "MerchantIdentity", "Ledger",
        "DirectWire", "TenderPayments", "StrictJSON", "HTTPTransport", "Storage", arguments, logging, lifecycle,
        unixSignals, nioCore,
      ]),
    module(
      "CommandLine/Demo",
      [
        "CommandSupport", "TenderServer", "Administration", "Settings", "Mail", "DemoShop", "AppleSandbox", "Ledger",
        "AcquirerSandbox", "ProviderEmulators", "TenderPayments", "StrictJSON", "HTTPTransport", "Storage", arguments,
        crypto, logging, lifecycle,
      ]),
    tool(
      "Sources/CommandLine/TenderCLI",
      [
        "CommandSupport", "CProcessMemory", "TenderServer", "Doctor", "Administration", "Settings", "Orders", "Gateway",
        "ApplePayToken", "TokenCalls", "KeyAgent", "MerchantIdentity", "Mail", "Acquiring", "Connectors", "Ledger",
        "Webhooks", "TenderSheet", "TenderCheckoutAPI", "DirectWire", "TenderPayments", "StrictJSON", "HTTPTransport",
        "Storage",
        arguments, crypto, x509, logging, lifecycle, unixSignals, nioCore, nioPosix,
      ]),
    tool(
      "Sources/CommandLine/SandboxCLI",
      ["CommandSupport", "Demo", "TokenIssuer", "ApplePayToken", "TenderPayments", "StrictJSON", arguments]),

    // The text files of `Web/` become string constants of the module that serves them.
    .plugin(name: "EmbedWeb", capability: .buildTool(), dependencies: ["embed-web"]),
    tool("Plugins/embed-web", ["CZlib", .target(name: "CBrotli", condition: .when(platforms: [.linux]))]),
    .systemLibrary(name: "CZlib", path: "Plugins/CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", path: "Plugins/CBrotli", providers: [.apt(["libbrotli-dev"])]),

    // Unit tests
    support("Tests/Support/TenderTesting", ["Acquiring", "HTTPTransport", "TenderPayments", "StrictJSON", "Storage"]),
    support("Tests/Support/PaymentTesting", ["Gateway", "Ledger", "ApplePayToken", "Storage", "TenderPayments"]),
    support("Tests/Support/TokenVectors", ["ApplePayToken", "TenderPayments", "StrictJSON"]),
    support("Tests/Support/SandboxTesting", ["TenderTesting", crypto, cryptoExtras, asn1, x509]),
    tests("Unit/StructureTests", ["TenderTesting"]),
    tests("Unit/Base/TenderPaymentsTests", ["TenderPayments"]),
    tests("Unit/Base/StrictJSONTests", ["StrictJSON", "TenderTesting"]),
    tests("Unit/Base/HTTPTransportTests", ["HTTPTransport", "TenderPayments", "TenderTesting", nioCore, nioPosix]),
    tests(
      "Unit/Base/TelemetryTests",
      ["Telemetry", "HTTPTransport", "StrictJSON", "TenderPayments", "TenderTesting", tracing, inMemoryTracing]),
    tests(
      "Unit/Base/HTTPServingTests",
      ["HTTPServing", "StrictJSON", httpTypes, hummingbird, hummingbirdTesting, nioCore]),
    tests("Unit/Base/QRCodesTests", ["QRCodes"]),
    tests("Unit/Base/StorageTests", ["Storage", "TenderTesting", "TenderPayments"]),
    tests("Unit/Kit/TenderSheetTests", ["TenderSheet", "TenderPayments", "TenderTesting"]),
    tests(
      "Unit/Kit/TenderCheckoutTests",
      ["TenderCheckout", "TenderCheckoutAPI", "TenderSheet", "TenderPayments", "StrictJSON", "TenderTesting"]),
    tests(
      "Unit/Tokens/ApplePayTokenTests",
      [
        "ApplePayToken", "KeyAgent", "TenderTesting", "TenderPayments", "StrictJSON", crypto, cryptoExtras, x509,
        asn1,
      ]),
    tests(
      "Unit/Tokens/KeyAgentTests",
      ["KeyAgent", "TokenCalls", "ApplePayToken", "TenderPayments", "TenderTesting", crypto]),
    tests(
      "Unit/Tokens/TokenCallsTests",
      [
        "TokenCalls", "ApplePayTokenC", "CApplePayToken", "KeyAgent", "ApplePayToken", "TokenVectors", "StrictJSON",
        "TenderPayments", "TenderTesting",
      ]),
    tests("Unit/Payments/DirectWireTests", ["DirectWire", "StrictJSON", "TenderPayments"]),
    tests(
      "Unit/Payments/AcquiringTests",
      [
        "Acquiring", "Connectors", "ApplePayToken", "DirectWire", "HTTPTransport", "StrictJSON", "TenderPayments",
        "TenderTesting",
        "AcquirerSandbox", "ProviderEmulators", "TokenIssuer", crypto, hummingbird, hummingbirdTesting,
      ]),
    tests("Unit/Payments/LedgerTests", ["Ledger", "Storage", "TenderPayments", "TenderTesting", crypto]),
    tests(
      "Unit/Payments/WebhooksTests",
      [
        "Webhooks", "Ledger", "DirectWire", "HTTPTransport", "StrictJSON", "Storage", "TenderPayments", "TenderTesting",
        crypto,
      ]),
    tests(
      "Unit/Payments/GatewayTests",
      [
        "Gateway", "Acquiring", "Connectors", "ApplePayToken", "Ledger", "Storage", "TenderPayments", "TenderTesting",
        "PaymentTesting",
        "AcquirerSandbox", "ProviderEmulators", "TokenIssuer", "HTTPTransport", "Auditing", crypto, asn1, x509,
        hummingbird,
        hummingbirdTesting,
      ]),
    tests(
      "Unit/Checkout/MerchantIdentityTests",
      [
        "MerchantIdentity", "HTTPTransport", "Storage", "TenderPayments", "TenderTesting", crypto, cryptoExtras, x509,
        asn1,
      ]),
    tests(
      "Unit/Checkout/OrdersTests",
      [
        "Orders", "Acquiring", "ApplePayToken", "Gateway", "Ledger", "Storage", "DirectWire", "TenderSheet",
        "TenderPayments", "StrictJSON", "TenderTesting", "PaymentTesting", "HTTPTransport", "TokenIssuer", crypto, jwt,
        asn1,
        x509,
      ]),
    tests(
      "Unit/Sandbox/TokenIssuerTests",
      [
        "TokenIssuer", "SandboxTesting", "ApplePayToken", "TenderPayments", "TenderTesting", crypto, cryptoExtras, asn1,
        x509,
      ]),
    tests(
      "Unit/Sandbox/AcquirerSandboxTests",
      [
        "AcquirerSandbox", "ProviderEmulators", "DirectWire", "TokenIssuer", "SandboxTesting", "TenderPayments",
        "TenderTesting",
        "StrictJSON", httpTypes, nioCore, hummingbird, hummingbirdTesting,
      ]),
    tests(
      "Unit/Sandbox/AppleSandboxTests",
      [
        "AppleSandbox", "AcquirerSandbox", "TokenIssuer", "SandboxTesting", "TenderPayments", "StrictJSON",
        "HTTPTransport", "TenderTesting", crypto, cryptoExtras, asn1, x509, nioCore, httpTypes, hummingbird,
        hummingbirdTesting, logging,
      ]),
    tests(
      "Unit/Sandbox/DemoShopTests",
      [
        "DemoShop", "HTTPTransport", "DirectWire", "StrictJSON", "TenderPayments", "TenderTesting", crypto, hummingbird,
        hummingbirdTesting, httpTypes, nioCore,
      ]),
    tests(
      "Unit/Server/PlatformAPITests",
      [
        "PlatformAPI", "Orders", "Gateway", "ApplePayToken", "Acquiring", "Ledger", "TenderSheet", "DirectWire",
        "TenderPayments", "StrictJSON", "Storage", "TenderTesting", "TokenIssuer", "SandboxTesting",
        "MerchantIdentity", "TenderCheckout", crypto, cryptoExtras,
      ]),
    tests(
      "Unit/Server/MailTests",
      [
        "Mail", "AppleSandbox", "HTTPTransport", "Ledger", "MerchantIdentity", "Storage", "StrictJSON",
        "TenderPayments",
        "TenderSheet", "TenderTesting", logging,
      ]),
    tests(
      "Unit/Server/BackOfficeTests",
      [
        "BackOffice", "Administration", "Settings", "Mail", "MerchantIdentity", "Gateway", "ApplePayToken", "Acquiring",
        "Ledger", "Webhooks", "Orders", "AppleSandbox", "HTTPTransport", "TenderPayments", "StrictJSON", "HTTPServing",
        "Storage", "TenderTesting", crypto, cryptoExtras, httpTypes, hummingbird,
        hummingbirdTesting, nioCore, nioEmbedded, logging,
      ]),
    tests(
      "Unit/Server/TenderServerTests",
      [
        "TenderServer", "Doctor", "Administration", "Settings", "BackOffice", "PlatformAPI", "Mail", "CostFuzzer",
        "Acquiring",
        "Connectors",
        "AcquirerSandbox", "ProviderEmulators",
        "AppleSandbox",
        "HTTPTransport",
        "MerchantIdentity", "DirectWire", "TenderCheckoutAPI", "TenderPayments", "StrictJSON", "Storage",
        "TenderTesting", "Gateway", "Orders", "ApplePayToken", "KeyAgent", "Telemetry",
        "Webhooks", "Ledger", "TokenIssuer", "SandboxTesting", crypto, asn1, x509, logging, httpTypes,
        hummingbirdTesting, nioCore, nioEmbedded, nioHTTPTypes, nioPosix,
      ]),
    tests(
      "Unit/Server/HostedCheckoutTests",
      [
        "HostedCheckout", "Orders", "Gateway", "ApplePayToken", "Ledger", "DirectWire", "StrictJSON", "TenderSheet",
        "TenderPayments", "Storage", "TenderTesting",
      ]),
    tests(
      "Unit/CommandLine/TenderCLITests",
      [
        "TokenIssuer", "ApplePayToken", "KeyAgent", "Ledger", "Storage", "TenderPayments", "StrictJSON",
        "HTTPTransport",
        "TenderTesting", crypto, asn1, x509,
        // These tests run both programs. With the others that `make test` runs, one build makes all of them.
        "TenderCLI", "SandboxCLI", "payment-simulator", "payment-auditor", "crashing-server",
      ]),

    // Attacks, and the auditor that judges what came of them: docs/reliability.md.
    tests(
      "Attacks/TokenAttackTests",
      [
        "ApplePayToken", "KeyAgent", "TokenVectors", "TenderTesting", "TenderPayments", "StrictJSON", "TokenIssuer",
        crypto, cryptoExtras, x509, asn1,
      ]),
    support("Tests/Attacks/CostFuzzer", ["DirectWire", "StrictJSON", "TenderPayments", "TenderTesting", crypto]),
    support("Tests/Attacks/Auditing", ["Storage", "StrictJSON"]),
    tests("Attacks/AuditingTests", ["Auditing"]),
    support(
      "Tests/Attacks/Simulation",
      [
        "Auditing", "PlatformAPI", "Orders", "Gateway", "Acquiring", "Connectors", "ApplePayToken", "Ledger",
        "Webhooks", "HTTPTransport",
        "DirectWire", "Storage", "StrictJSON", "TenderPayments", "TenderSheet", "TenderTesting", "PaymentTesting",
        "TokenIssuer", crypto, asn1, x509,
      ]),
    tool("Tests/Attacks/payment-simulator", ["Auditing", "Simulation"]),
    tool("Tests/Attacks/payment-auditor", ["Auditing", "Ledger", "Storage", "StrictJSON", "TenderPayments"]),
    // `tender serve` that dies at a named point: `scripts/attack crash`.
    tool(
      "Tests/Attacks/crashing-server",
      ["TenderServer", "Settings", "Gateway", "Storage", "TenderPayments", logging, lifecycle, unixSignals]),

    // Measurements: `make bench`
    tool("Benchmarks/TenderBench", ["ApplePayToken", "TokenVectors", "TenderPayments", crypto]),
    tool(
      "Benchmarks/PaymentBench",
      [
        "LoadGenerator", "CostFuzzer", "AppleSandbox", "TokenIssuer", "TenderServer", "Administration", "Settings",
        "TenderTesting",
        "ApplePayToken",
        "Acquiring",
        "Ledger", "Storage", "DirectWire", "HTTPTransport", "StrictJSON", "TenderPayments", nioCore, nioPosix, logging,
        asn1, x509,
      ]),
    support("Benchmarks/LoadGenerator", [nioCore, nioPosix, nioSSL]),
    tests("Attacks/LoadGeneratorTests", ["LoadGenerator", "TenderTesting", nioCore, nioPosix]),
  ].filter { $0.type != .test || areChosen($0) }
)
