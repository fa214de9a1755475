import AcquirerSandbox
import Acquiring
import Connectors
import HTTPTransport
import Hummingbird
import HummingbirdTesting
import ProviderEmulators
import StrictJSON
import Synchronization
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// A merchant at the emulated Worldline Acquiring, over HTTP. One connector serves all calls, with one access token.
struct WorldlineAcquiringVisit: Sendable {
  let origin: String
  let http: HTTPSender
  let sandbox: WorldlineAcquiringSandbox
  let acquirer: Acquirer
  private let log: Log

  static let merchant = "520000001"
  static let secret = "sandbox-client-secret"

  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ transcript: Transcript) {
      lines.withLock { $0.append(transcript.request + "\n" + transcript.response) }
    }
    var text: String { lines.withLock { $0.joined(separator: "\n") } }
  }

  /// Every exchange so far, as it would stand in a log.
  var transcripts: String { log.text }

  static func run(
    preAuthorizes: Bool = false, verifies: Bool = false, secret: String = secret, clock: WallClock = .system,
    lifetime: Duration = .seconds(3_600),
    _ body: @escaping @Sendable (WorldlineAcquiringVisit) async throws -> Void
  ) async throws {
    let files = try TemporaryStore()
    var account = WorldlineAcquiringAccount.sandbox
    account.tokenLifetime = lifetime
    // A call without an answer ends with a gateway's 504 here: as unknown as a timeout, on a slow machine too.
    let sandbox = try await WorldlineAcquiringSandbox(
      databasePath: files.path, accounts: [account], clock: clock, silence: .milliseconds(50))
    let router = Router()
    sandbox.addRoutes(to: router)
    let client = try LiveHTTPClient(maximumResponseBytes: 1_048_576)
    let sender = client.sender
    do {
      try await Application(router: router).test(.live) { test in
        let origin = "http://localhost:\(test.port ?? 0)"
        var settings = try settings(.simulated(origin: origin), secret: secret)
        settings.authorizationType = preAuthorizes ? .preliminary : .final
        settings.verifiesAccounts = verifies
        let log = Log()
        try await body(
          WorldlineAcquiringVisit(
            origin: origin, http: sender, sandbox: sandbox,
            acquirer: .worldlineAcquiring(settings, http: sender, clock: clock) { log.note($0()) }
              .convertingAmounts(), log: log))
      }
    } catch {
      try await client.shutdown()
      throw error
    }
    try await client.shutdown()
    await sandbox.close()
  }

  static func settings(
    _ host: WorldlineAcquiringSettings.Host, secret: String = secret
  ) throws -> WorldlineAcquiringSettings {
    try WorldlineAcquiringSettings(
      host: host, clientID: "tender-sandbox", clientSecret: WorldlineAcquiringSecret(secret), acquirerID: "100001",
      merchantIDs: [merchant])
  }
}

extension WorldlineAcquiringVisit {
  struct NotApproved: Error { let answer: AcquirerAnswer }

  func authorize(
    _ reference: String, _ amount: Amount = .eur(1250), card: String = "visa-debit", cryptogram: String? = nil,
    as type: AuthorizationType? = nil
  ) async throws -> AcquirerAnswer {
    let card = try #require(SandboxCards.card(id: card))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: cryptogram ?? Base64.encode(RandomBytes.system.next(20))), eci: "7")
    var sale = SaleDetails(statementDescriptor: "HARBOUR*KITCHEN", merchantCategory: "5812")
    sale.authorization = type
    let request = AuthorizationRequest(
      reference: AttemptReference(reference), merchantReference: "order", amount: amount, instrument: .network(token),
      sale: sale)
    return await acquirer.authorize(request, .after(TestRun.whole))
  }

  /// Worldline's name of a payment that is authorized now.
  func held(_ reference: String, _ units: Int64 = 1250) async throws -> String {
    let answer = try await authorize(reference, .eur(units))
    guard case .approved(let approval) = answer else { throw NotApproved(answer: answer) }
    return approval.acquirerReference
  }

  func capture(
    _ reference: String, _ payment: String, _ units: Int64, number: Int = 1, isFinal: Bool = false,
    isWhole: Bool = false
  ) async -> AcquirerAnswer {
    await acquirer.capture(
      FollowUpRequest(
        reference: AttemptReference(reference), authorization: payment, amount: .eur(units), isFinal: isFinal,
        isWhole: isWhole, number: number), .after(TestRun.whole))
  }

  func void(_ reference: String, _ payment: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.void(followUp(reference, payment, units), .after(TestRun.whole))
  }

  func refund(_ reference: String, _ payment: String, _ units: Int64) async -> AcquirerAnswer {
    await acquirer.refund(followUp(reference, payment, units), .after(TestRun.whole))
  }

  func increment(_ reference: String, _ payment: String, _ units: Int64) async throws -> AcquirerAnswer {
    let increment = try #require(acquirer.increment)
    return await increment(followUp(reference, payment, units), .after(TestRun.whole))
  }

  private func followUp(_ reference: String, _ payment: String, _ units: Int64) -> FollowUpRequest {
    FollowUpRequest(reference: AttemptReference(reference), authorization: payment, amount: .eur(units))
  }

  func inquire(
    _ kind: InquiredOperation, _ reference: String, _ units: Int64 = 1250, of payment: String? = nil,
    called name: String? = nil
  ) async -> Inquiry {
    await acquirer.inquire(
      InquiryRequest(
        reference: AttemptReference(reference), amount: .eur(units), kind: kind, authorization: payment,
        acquirerReference: name), .after(TestRun.whole))
  }

  func reverse(_ reference: String) async -> Reversal {
    await acquirer.reverse(
      InquiryRequest(reference: AttemptReference(reference), amount: .eur(1250)), .after(TestRun.whole))
  }

  /// A call of the sandbox's own.
  func manage(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> [UInt8] {
    let pair = Base64.encode(Array("tender-sandbox:\(Self.secret)".utf8))
    let answer = try await http.send(
      OutboundRequest(
        method: method, url: "\(origin)/worldline-acquiring/\(path)",
        headers: [HTTPField("Authorization", "Basic \(pair)"), HTTPField("Content-Type", "application/json")],
        body: body?.serialized() ?? []), TestRun.whole)
    try #require(answer.status == 200)
    return answer.body
  }

  func inject(_ fault: String) async throws { _ = try await manage("POST", "faults", ["next": .string(fault)]) }

  /// The emulator's payments, oldest first.
  func payments() async throws -> [JSONValue] {
    try JSONField(JSONReader.read(try await manage("GET", "payments"))).member("payments").array.map(\.value)
  }
}
