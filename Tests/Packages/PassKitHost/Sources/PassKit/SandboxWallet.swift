public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Not part of PassKit: the wallet of the stub. Its cards, contacts and payment tokens come from a sandbox's device
/// over HTTP; a test sets the device's capabilities.
public final class SandboxWallet: Sendable {
  /// The wallet that the code under test finds, for the task that set it.
  @TaskLocal public static var current = SandboxWallet(sandbox: URL(fileURLWithPath: "/"))

  static let networks: [PKPaymentNetwork] = [
    .visa, .masterCard, .amex, .discover, .JCB, .maestro, PKPaymentNetwork("NeuCard"),
  ]

  /// What a test decides.
  public struct Abilities: Sendable {
    public var canMakePayments = true
    public var hasLibrary = true
    public var networks: [PKPaymentNetwork] = [.visa, .masterCard]
    public var kinds: PKMerchantCapability = [.credit, .debit]
    public var showsSheets = true
    /// The iOS Simulator: payment tokens are empty.
    public var isSimulator = false

    public init() {}
  }

  public let sandbox: URL
  private let abilities: Abilities
  private let state = Mutex(State())
  /// The sheets that were shown, each once.
  public let sheets: AsyncStream<ShopperSheet>
  private let shown: AsyncStream<ShopperSheet>.Continuation

  private struct State {
    var open: ShopperSheet?
    var setUps = 0
  }

  public init(sandbox: URL, _ abilities: Abilities = Abilities()) {
    self.sandbox = sandbox
    self.abilities = abilities
    (sheets, shown) = AsyncStream.makeStream(of: ShopperSheet.self)
  }

  var canMakePayments: Bool { abilities.canMakePayments }
  var hasLibrary: Bool { abilities.hasLibrary }
  var isSimulator: Bool { abilities.isSimulator }
  /// How often Wallet was opened to add a card.
  public var setUps: Int { state.withLock { $0.setUps } }
  func openSetUp() { state.withLock { $0.setUps += 1 } }

  func hasCard(_ wanted: [PKPaymentNetwork], _ capabilities: PKMerchantCapability) -> Bool {
    let kinds = capabilities.intersection([.credit, .debit])
    let fits = kinds.isEmpty || !kinds.isDisjoint(with: abilities.kinds)
    return fits && !Set(wanted).isDisjoint(with: abilities.networks)
  }

  @MainActor func show(_ controller: PKPaymentAuthorizationController) -> Bool {
    let request = controller.request
    let isValid =
      !request.merchantIdentifier.isEmpty && !request.supportedNetworks.isEmpty
      && request.merchantCapabilities.contains(.threeDSecure) && !request.paymentSummaryItems.isEmpty
    guard abilities.showsSheets, isValid, state.withLock({ $0.open == nil }) else { return false }
    let sheet = ShopperSheet(controller, of: self)
    state.withLock { $0.open = sheet }
    shown.yield(sheet)
    return true
  }

  @MainActor func takeAway(_ controller: PKPaymentAuthorizationController) {
    let sheet = state.withLock { $0.open }
    guard let sheet, sheet.isOf(controller) else { return }
    state.withLock { $0.open = nil }
  }

  /// Whether a sheet is on the screen.
  public var isShowing: Bool { state.withLock { $0.open != nil } }
}

// The device, over HTTP.
extension SandboxWallet {
  struct Refused: Error { let status: Int }

  /// A contact of the sandbox's, as Apple Pay JS spells it, with `redacted` inside.
  func contact(_ id: String) async throws -> [String: Any] {
    let all = try JSONSerialization.jsonObject(with: try await call("GET", "device/contacts")) as? [[String: Any]]
    guard let contact = all?.first(where: { $0["id"] as? String == id }) else { throw Refused(status: 404) }
    return contact
  }

  func card(_ id: String) async throws -> (name: String, network: String, type: String) {
    let all = try JSONSerialization.jsonObject(with: try await call("GET", "device/cards")) as? [[String: Any]]
    guard let card = all?.first(where: { $0["id"] as? String == id }) else { throw Refused(status: 404) }
    func text(_ key: String) -> String { card[key] as? String ?? "" }
    return (text("displayName"), text("networkName"), text("type"))
  }

  /// A payment token, as `POST /device/tokens` answers it.
  func issueToken(_ request: [String: Any]) async throws -> Data {
    try await call("POST", "device/tokens", try JSONSerialization.data(withJSONObject: request))
  }

  private func call(_ method: String, _ path: String, _ body: Data? = nil) async throws -> Data {
    var request = URLRequest(url: sandbox.appendingPathComponent(path))
    request.httpMethod = method
    request.httpBody = body
    if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    let (data, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard (200..<300).contains(status) else { throw Refused(status: status) }
    return data
  }
}
