/// Which module may import which.
///
/// `Sources` holds a folder for each area. A module imports what lies in an area above its own in this list, and of its
/// own area only what ``siblings`` names. `Package.swift` says which modules there are.
struct Architecture {
  static let areas = ["Base", "Kit", "Tokens", "Payments", "Checkout", "Sandbox", "Server", "CommandLine"]

  /// Modules of the same area that a module may import.
  static let siblings: [String: Set<String>] = [
    "StrictJSON": ["TenderPayments"], "HTTPTransport": ["StrictJSON", "TenderPayments"],
    "Telemetry": ["HTTPTransport", "StrictJSON", "TenderPayments"],
    "HTTPServing": ["StrictJSON", "TenderPayments"], "Storage": ["TenderPayments", "CLibPQ"], "QRCodes": ["CQRCode"],
    "TenderCheckoutAPI": ["TenderSheet"], "TenderCheckout": ["TenderCheckoutAPI", "TenderSheet"],
    "TokenCalls": ["ApplePayToken"], "KeyAgent": ["ApplePayToken", "TokenCalls"],
    "ApplePayTokenC": ["ApplePayToken", "CApplePayToken", "TokenCalls"],
    // The outbox is the ledger's; the dispatcher that empties it writes into the same commit.
    "Webhooks": ["DirectWire", "Ledger"], "Acquiring": ["DirectWire"], "Connectors": ["Acquiring", "DirectWire"],
    "Gateway": ["Acquiring", "Ledger"],
    "AcquirerSandbox": ["TokenIssuer"], "ProviderEmulators": ["AcquirerSandbox", "TokenIssuer"],
    "AppleSandbox": ["TokenIssuer", "AcquirerSandbox", "MailSandbox", "ProviderEmulators"],
    "Settings": ["HostedCheckout", "Mail"],
    "Administration": ["HostedCheckout", "Mail", "PlatformAPI", "Settings"],
    "BackOffice": ["Administration", "Settings"], "Doctor": ["Administration", "Mail", "Settings"],
    "TenderServer": ["Administration", "Doctor", "BackOffice", "Settings", "PlatformAPI", "HostedCheckout", "Mail"],
    "CMailTransfer": ["CCurl"], "Mail": ["CMailTransfer"], "TenderCLI": ["CProcessMemory", "CommandSupport"],
    "SandboxCLI": ["CommandSupport", "Demo"], "Demo": ["CommandSupport"], "CommandSupport": ["CBuild"],
  ]

  private static let base: Set<String> = ["TenderPayments", "StrictJSON", "HTTPServing", "HTTPTransport", "Storage"]

  /// Modules that may import these and no others of ours.
  static let restricted: [String: Set<String>] = [
    // The sandbox checks what the server does, so it shares no code with it, but for the wire that Tender speaks in both
    // directions: the vendor's own SDKs judge that one.
    "TokenIssuer": base.union(["ApplePayToken"]),
    "AcquirerSandbox": base.union(["ApplePayToken", "TokenIssuer"]),
    "ProviderEmulators": base.union(["AcquirerSandbox", "ApplePayToken", "DirectWire", "TokenIssuer"]),
    "MailSandbox": base,
    "AppleSandbox": base.union(["TokenIssuer", "AcquirerSandbox", "MailSandbox", "ProviderEmulators", "QRCodes"]),
    // The shop is a merchant: it knows the platform's wire and nothing behind it.
    "DemoShop": base.union(["DirectWire"]),
  ]

  /// Areas, and modules of others, that know the sandbox as a URL alone: `tender` holds nothing that could issue a
  /// payment token.
  private static let apart = ["Server": "Sandbox", "CommandSupport": "Sandbox", "TenderCLI": "Sandbox"]

  /// Modules that go into other people's apps (◆): they import no other package, and only modules that do so too.
  static let portable: Set<String> = [
    "TenderPayments", "StrictJSON", "TenderSheet", "TenderCheckoutAPI", "TenderCheckout",
  ]

  /// Frameworks of the system that a ◆ module may import beside Foundation.
  static let frameworks: [String: Set<String>] = [
    "TenderCheckout": ["PassKit", "Contacts", "SwiftUI", "CommonCrypto", "CryptoKit", "Security"]
  ]

  /// The area of each module.
  let modules: [String: String]

  init(_ manifest: Manifest) { modules = manifest.modules }

  /// Whether `module` may import `other`, both of ours.
  func allows(_ module: String, _ other: String) -> Bool {
    if let only = Self.restricted[module] { return only.contains(other) }
    if Self.portable.contains(module), !Self.portable.contains(other) { return false }
    if let apart = Self.apart[module] ?? modules[module].flatMap({ Self.apart[$0] }), modules[other] == apart {
      return false
    }
    return rank(other) < rank(module) || Self.siblings[module]?.contains(other) == true
  }

  private func rank(_ module: String) -> Int {
    modules[module].flatMap { Self.areas.firstIndex(of: $0) } ?? Self.areas.count
  }
}
