import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// An access token of one client: OAuth 2.0 client credentials, RFC 6749, 4.4.
struct WorldlineAcquiringToken: Sendable {
  /// Counts the renewals.
  let number: Int
  let text: String
  /// By the scheduler's clock: from when it is replaced, and from when it is not used any more.
  let renewal: Duration
  let end: Duration
}

/// Why there is no access token. No request of a payment was sent.
enum WorldlineAcquiringAccessFailure: Error, Sendable, Hashable {
  /// The token's issuer refuses the client, with this error code of RFC 6749.
  case refused(String)
  case unavailable(String)
}

/// Keeps an access token and renews it before it ends.
///
/// One renewal runs at a time. While the token is valid nobody waits for its renewal; without a valid token every call
/// waits for the same renewal, and no longer than its own deadline.
actor WorldlineAcquiringAccess {
  typealias Access = Result<WorldlineAcquiringToken, WorldlineAcquiringAccessFailure>

  private let settings: WorldlineAcquiringSettings
  private let http: HTTPSender
  private let scheduler: Scheduler
  private let log: ExchangeLog
  private var current: WorldlineAcquiringToken?
  private var renewals = 0
  private var isRenewing = false
  /// After a failed renewal of a token that is still valid.
  private var resting: Duration = .zero
  private var waiting: [Int: CheckedContinuation<Access, Never>] = [:]
  private var arrivals = 0

  init(
    _ settings: WorldlineAcquiringSettings, http: HTTPSender, scheduler: Scheduler,
    log: @escaping ExchangeLog
  ) {
    self.settings = settings
    self.http = http
    self.scheduler = scheduler
    self.log = log
  }

  /// A valid access token.
  ///
  /// - Parameter rejected: one that the API has rejected, and that is not to be returned.
  func token(insteadOf rejected: WorldlineAcquiringToken? = nil, _ deadline: Deadline) async -> Access {
    if let rejected, current?.number == rejected.number { current = nil }
    let now = scheduler.uptime()
    if let current, now < current.end {
      if now >= max(current.renewal, resting) { beginRenewal() }
      return .success(current)
    }
    guard deadline.remaining > .zero else { return .failure(.unavailable("no time was left to ask")) }
    // The sender notes the request for the call that has begun it.
    if isRenewing { NetworkUse.note() } else { beginRenewal() }
    return await waitForToken(before: deadline)
  }

  private func waitForToken(before deadline: Deadline) async -> Access {
    arrivals += 1
    let place = arrivals
    let timer = Task {
      try? await scheduler.sleep(deadline.remaining)
      leave(place)
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { waiting[place] = $0 }
  }

  private func leave(_ place: Int) {
    waiting.removeValue(forKey: place)?.resume(returning: .failure(.unavailable("the access token came too late")))
  }

  private func beginRenewal() {
    guard !isRenewing else { return }
    isRenewing = true
    Task { await renew() }
  }

  private func renew() async {
    let start = scheduler.uptime()
    let result = await request(at: start)
    if case .success(let token) = result { current = token } else { resting = scheduler.uptime() + .seconds(1) }
    isRenewing = false
    let all = waiting
    waiting = [:]
    for place in all.values { place.resume(returning: result) }
  }

  private func request(at start: Duration) async -> Access {
    let request = OutboundRequest(
      method: "POST", url: settings.tokenAddress,
      headers: [HTTPField("Content-Type", "application/x-www-form-urlencoded")], body: Array(form.utf8))
    do {
      let response = try await http.send(request, Self.timeout)
      log(Transcript(request: "POST \(request.url) (credentials)", response: "\(response.status)"))
      return read(response, at: start)
    } catch {
      log(Transcript(request: "POST \(request.url) (credentials)", response: "\(error)"))
      return .failure(.unavailable("the access token's issuer did not answer: \(error.interruption.detail)"))
    }
  }

  private static let timeout: Duration = .seconds(10)

  private var form: String {
    let fields = [
      ("grant_type", "client_credentials"), ("client_id", settings.clientID),
      ("client_secret", settings.clientSecret.revealed), ("scope", scopes),
    ]
    return fields.map { "\($0.0)=\(Self.encoded($0.1))" }.joined(separator: "&")
  }

  /// What the connector's calls need. A token is refused if one of them was not granted.
  private var scopes: String {
    let usual = "processing_payment processing_refund processing_operation_reverse services_ping"
    return settings.verifiesAccounts ? usual + " processing_accountverification" : usual
  }

  /// As forms are encoded: a space is a plus sign.
  private static func encoded(_ text: String) -> String {
    text.utf8.reduce(into: "") { encoded, byte in
      let character = Character(UnicodeScalar(byte))
      switch byte {
      case 0x20: encoded += "+"
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2A, 0x2D, 0x2E, 0x5F: encoded.append(character)
      default: encoded += "%" + Hex.encode([byte]).uppercased()
      }
    }
  }
}

extension WorldlineAcquiringAccess {
  private func read(_ response: InboundResponse, at start: Duration) -> Access {
    guard let root = try? JSONField(JSONReader.read(response.body)) else {
      return .failure(.unavailable("the access token's issuer answered \(response.status) without JSON"))
    }
    guard response.status == 200 else { return .failure(refusal(response.status, root)) }
    do {
      renewals += 1
      return .success(try Self.token(root, number: renewals, at: start))
    } catch {
      return .failure(.unavailable("no access token: \(error.description)"))
    }
  }

  /// Credentials that are refused are refused with 400 or 401 and an error code; all else may pass.
  private func refusal(_ status: Int, _ root: JSONField) -> WorldlineAcquiringAccessFailure {
    guard [400, 401, 403].contains(status), let error = try? root.member("error").string,
      (1...40).contains(error.utf8.count), error.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F })
    else { return .unavailable("the access token's issuer answered \(status)") }
    return .refused(error)
  }

  /// It is replaced when a fifth of its life is left, two minutes at most.
  private static func token(
    _ root: JSONField, number: Int, at start: Duration
  ) throws(JSONError) -> WorldlineAcquiringToken {
    let (text, life) = (try root.member("access_token"), try root.member("expires_in"))
    let (value, seconds) = (try text.string, try life.integer)
    guard (1...8_192).contains(value.utf8.count), value.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      throw JSONError(.invalid, path: text.path, "cannot stand in a header")
    }
    guard (1...2_592_000).contains(seconds) else { throw JSONError(.invalid, path: life.path, "no lifetime") }
    let end = start + .seconds(seconds)
    return WorldlineAcquiringToken(
      number: number, text: value, renewal: end - .seconds(min(120, max(1, seconds / 5))),
      end: end - .seconds(min(10, seconds / 20)))
  }
}
