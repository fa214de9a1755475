import Foundation
import TenderPayments
import TokenIssuer

/// Apple's developer portal: merchant identifiers, their certificates, their domains.
///
/// Everything it knows is in `portal.json` before a call is answered, so that it survives a restart.
actor DeveloperPortal {
  let pki: SandboxPKI
  let clock: WallClock
  let random: RandomBytes
  let fetch: AssociationFetch
  /// How many processing certificates one merchant may hold at a time.
  let maximumProcessingCertificates: Int

  private let files: StateDirectory
  private(set) var merchants: [PortalMerchant]

  init(
    pki: SandboxPKI, files: StateDirectory, fetch: AssociationFetch, maximumProcessingCertificates: Int,
    clock: WallClock, random: RandomBytes
  ) throws {
    self.pki = pki
    self.files = files
    self.fetch = fetch
    self.maximumProcessingCertificates = maximumProcessingCertificates
    self.clock = clock
    self.random = random
    let text = try files.text(Self.fileName)
    merchants = try text.map { try JSONDecoder().decode([PortalMerchant].self, from: Data($0.utf8)) } ?? []
  }

  /// Registers a merchant identifier. Identifiers begin `merchant.` and are unique in the world.
  func register(_ identifier: String, displayName: String?) throws -> PortalMerchant {
    guard Self.isIdentifier(identifier) else {
      throw SandboxProblem(
        status: 400, code: "invalid_merchant_identifier",
        message: "A merchant identifier begins with merchant. and goes on with letters, digits, dots and hyphens.")
    }
    guard !merchants.contains(where: { $0.merchantIdentifier == identifier }) else {
      throw SandboxProblem(
        status: 409, code: "merchant_exists", message: "This merchant identifier is registered already.")
    }
    let merchant = PortalMerchant(merchantIdentifier: identifier, displayName: displayName ?? identifier)
    try commit(merchants + [merchant])
    return merchant
  }

  /// The merchant with this identifier.
  func merchant(_ identifier: String) throws -> PortalMerchant {
    guard let merchant = merchants.first(where: { $0.merchantIdentifier == identifier }) else {
      throw SandboxProblem(
        status: 404, code: "merchant_unknown", message: "No such merchant identifier; register it first.")
    }
    return merchant
  }

  /// The merchant with this identifier, or with this hash in hex.
  func merchant(identifierOrHash text: String) -> PortalMerchant? {
    merchants.first { $0.merchantIdentifier == text } ?? merchants.first { $0.hash.description == text.uppercased() }
  }

  /// Changes one merchant: on disk first, in memory when that succeeded.
  func change<Value>(_ identifier: String, _ body: (inout PortalMerchant) throws -> Value) throws -> Value {
    var merchant = try merchant(identifier)
    let value = try body(&merchant)
    try commit(merchants.map { $0.merchantIdentifier == identifier ? merchant : $0 })
    return value
  }

  private func commit(_ changed: [PortalMerchant]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try files.write(String(decoding: encoder.encode(changed), as: UTF8.self) + "\n", to: Self.fileName)
    merchants = changed
  }

  private static let fileName = "portal.json"

  private static func isIdentifier(_ text: String) -> Bool {
    text.hasPrefix("merchant.") && (10...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
          || byte == 0x2E
      }
  }
}
