import AcquirerSandbox
import Acquiring
import Connectors
import Auditing
import HTTPTransport
import Hummingbird
import ProviderEmulators
import Storage
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A provider that the sandbox emulates.
enum Provider: String, Sendable, CaseIterable {
  case adyen, braintree, stripe
  case checkoutCom = "checkout-com"
  case worldlineDirect = "worldline-direct"
  case worldlineAcquiring = "worldline-acquiring"

  var takesSealed: Bool { self != .worldlineAcquiring }

  /// Whether an authorization of zero asks about the card.
  var verifiesCards: Bool { [.adyen, .checkoutCom, .worldlineAcquiring].contains(self) }

  /// The kinds of agreement that can begin there, and be charged.
  func agreements(isSealed: Bool) -> Set<AgreementKind> {
    switch self {
    case .adyen: Set(AgreementKind.allCases)
    case .checkoutCom: isSealed ? Set(AgreementKind.allCases) : []
    case .worldlineDirect: [.recurring]
    case .braintree, .stripe, .worldlineAcquiring: []
    }
  }

  /// Whether a sealed payment token takes two requests.
  var hasTwoSteps: Bool { [.braintree, .stripe, .checkoutCom].contains(self) }

  /// Whether an authorization without an answer is sent again while its payment token is in memory.
  var repeatsAuthorizations: Bool { self != .braintree && self != .checkoutCom }

  /// Where an address for events is given to the emulator.
  var subscription: String? {
    switch self {
    case .adyen, .stripe, .checkoutCom, .worldlineDirect: "/\(rawValue)/webhook"
    case .braintree: "/braintree/event-endpoint"
    case .worldlineAcquiring: nil
    }
  }

  /// Where the emulator has the report that a person downloads.
  var report: String? {
    switch self {
    case .adyen, .worldlineAcquiring: "/\(rawValue)/report"
    default: nil
    }
  }

  /// What the emulator's own calls need.
  var credentials: [HTTPField] {
    let type = HTTPField("Content-Type", "application/json")
    switch self {
    case .adyen: return [HTTPField("X-API-Key", AdyenAccount.sandbox.apiKey), type]
    case .braintree:
      let keys = "\(BraintreeAccount.sandbox.publicKey):\(BraintreeAccount.sandbox.privateKey)"
      return [
        HTTPField("Authorization", "Basic " + Base64.encode(Array(keys.utf8))), HTTPField("X-ApiVersion", "6"), type,
      ]
    case .stripe: return [HTTPField("Authorization", "Bearer \(StripeAccount.sandbox.secretKey)"), type]
    case .checkoutCom: return [HTTPField("Authorization", "Bearer \(CheckoutComAccount.sandbox.secretKey)"), type]
    case .worldlineDirect:
      return [HTTPField("Authorization", WorldlineDirectAccount.sandbox.portalAuthorization), type]
    case .worldlineAcquiring:
      let account = WorldlineAcquiringAccount.sandbox
      let pair = Base64.encode(Array("\(account.clientID):\(account.clientSecret)".utf8))
      return [HTTPField("Authorization", "Basic \(pair)"), type]
    }
  }
}

// The connectors, as a configuration makes them.
extension Provider {
  func acquirer(at origin: String, _ http: HTTPSender, _ clock: WallClock) throws -> Acquirer {
    switch self {
    case .adyen: try Self.adyen(origin, http)
    case .braintree: try Self.braintree(origin, http)
    case .stripe: try Self.stripe(origin, http)
    case .checkoutCom: try Self.checkoutCom(origin, http)
    case .worldlineDirect: try Self.worldlineDirect(origin, http, clock)
    case .worldlineAcquiring: try Self.worldlineAcquiring(origin, http, clock)
    }
  }

  private static func adyen(_ origin: String, _ http: HTTPSender) throws -> Acquirer {
    let account = AdyenAccount.sandbox
    let settings = try AdyenSettings(
      host: .simulated(origin: origin), apiKey: try #require(AdyenAPIKey(account.apiKey)),
      hmacKeys: [try #require(AdyenHMACKey(hex: account.hmacKey))], merchantAccounts: [account.merchantAccount],
      returnURL: "https://shop.example/")
    return .adyen(settings, http: http)
  }

  private static func braintree(_ origin: String, _ http: HTTPSender) throws -> Acquirer {
    let account = BraintreeAccount.sandbox
    var settings = BraintreeSettings(
      environment: .simulated(origin: origin), merchantID: account.merchantID, publicKey: account.publicKey,
      privateKey: BraintreePrivateKey(account.privateKey),
      merchantAccounts: [try #require(Currency(code: "EUR")): "tender_eur"])
    settings.capturesInParts = true
    return .braintree(settings, http: http)
  }

  private static func stripe(_ origin: String, _ http: HTTPSender) throws -> Acquirer {
    let account = StripeAccount.sandbox
    let settings = try StripeSettings(
      host: .simulated(origin: origin), secretKey: try #require(StripeSecretKey(account.secretKey)),
      signingSecrets: [try #require(StripeSigningSecret(account.signingSecret))], multicapture: true)
    return .stripe(settings, http: http)
  }

  private static func checkoutCom(_ origin: String, _ http: HTTPSender) throws -> Acquirer {
    let account = CheckoutComAccount.sandbox
    let settings = try CheckoutComSettings(
      host: .simulated(origin: origin), secretKey: try #require(CheckoutComSecretKey(account.secretKey)),
      publicKey: try #require(CheckoutComPublicKey(account.publicKey)),
      workflow: try #require(CheckoutComWorkflow(signatureKeys: [account.signatureKey])),
      processingChannels: [account.processingChannel])
    return .checkoutCom(settings, http: http)
  }

  private static func worldlineDirect(_ origin: String, _ http: HTTPSender, _ clock: WallClock) throws -> Acquirer {
    let account = WorldlineDirectAccount.sandbox
    let hook = try #require(WorldlineDirectKey(id: account.webhookKeyID, secret: account.webhookSecret))
    let settings = try WorldlineDirectSettings(
      host: .simulated(origin: origin), merchantID: account.merchantID,
      apiKey: try #require(WorldlineDirectKey(id: account.apiKeyID, secret: account.secretAPIKey)),
      webhookKeys: [hook])
    return .worldlineDirect(settings, http: http, clock: clock)
  }

  private static func worldlineAcquiring(_ origin: String, _ http: HTTPSender, _ clock: WallClock) throws -> Acquirer {
    let account = WorldlineAcquiringAccount.sandbox
    var settings = try WorldlineAcquiringSettings(
      host: .simulated(origin: origin), clientID: account.clientID,
      clientSecret: WorldlineAcquiringSecret(account.clientSecret), acquirerID: account.acquirerID,
      merchantIDs: account.merchantIDs)
    settings.verifiesAccounts = true
    // However long an access token takes, it is waited for.
    let scheduler = Scheduler(
      uptime: Scheduler.system.uptime, sleep: { _ in try await Task.sleep(for: TestRun.whole) },
      finish: Scheduler.system.finish)
    return .worldlineAcquiring(settings, http: http, clock: clock, scheduler: scheduler)
  }
}

/// The emulator of a provider, in this process.
struct Emulator: Sendable {
  let certificateRequest: @Sendable () async throws -> String
  let deliver: @Sendable (EventDelivery) async throws -> Void
  let close: @Sendable () async -> Void

  /// A call without an answer ends after 50 ms with a gateway's 504: as unknown as a timeout.
  private static let silence = Duration.milliseconds(50)

  init(
    _ provider: Provider, _ path: String, _ pki: SandboxPKI, _ clock: WallClock,
    addingTo router: Router<BasicRequestContext>
  ) async throws {
    let (root, silence) = (try pki.rootPEM, Self.silence)
    switch provider {
    case .adyen:
      let service = try await AdyenSandboxService(
        databasePath: path, tokenRootPEM: root, accounts: [.sandbox], clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(service, service.certificateRequest, service.close)
    case .braintree:
      let service = try await BraintreeSandbox(
        databasePath: path, tokenRootPEM: root, accounts: [.sandbox], clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(service, settlesAfter: .seconds(86_400), service.certificateRequest, service.close)
    case .stripe:
      let service = try await StripeSandboxService(
        databasePath: path, tokenRootPEM: root, clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(service, service.certificateRequest, service.close)
    case .checkoutCom:
      let service = try await CheckoutComSandbox(
        databasePath: path, tokenRootPEM: root, clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(service, service.certificateRequest, service.close)
    case .worldlineDirect:
      let service = try await WorldlineDirectSandbox(
        databasePath: path, tokenRootPEM: root, clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(service, service.certificateRequest, service.close)
    case .worldlineAcquiring:
      let service = try await WorldlineAcquiringSandbox(databasePath: path, clock: clock, silence: silence)
      service.addRoutes(to: router)
      self.init(withoutEvents: service.close)
    }
  }

  private init(withoutEvents close: @escaping @Sendable () async -> Void) {
    (certificateRequest, deliver) = ({ "" }, { _ in })
    self.close = close
  }

  private init(
    _ source: some EventSource, settlesAfter delay: Duration = .zero,
    _ request: @escaping @Sendable (String) async throws -> String, _ close: @escaping @Sendable () async -> Void
  ) {
    certificateRequest = { try await request(Shop.identifier) }
    deliver = { try await source.deliverEvents(after: delay, by: $0) }
    self.close = close
  }
}

extension Evidence {
  /// The same with the provider's ledger.
  func beside(_ provider: Provider, _ ledger: Transaction) throws -> Evidence {
    var evidence = self
    switch provider {
    case .adyen: try evidence.readAdyen(ledger)
    case .braintree: try evidence.readBraintree(ledger)
    case .stripe: try evidence.readStripe(ledger)
    case .checkoutCom: try evidence.readCheckoutCom(ledger)
    case .worldlineDirect: try evidence.readWorldlineDirect(ledger)
    case .worldlineAcquiring: try evidence.readWorldlineAcquiring(ledger)
    }
    return evidence
  }
}
