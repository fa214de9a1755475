import Foundation
import StrictJSON
import TenderPayments
import TokenIssuer

/// The merchant tokens that the wallet gave, and what has happened to them. It is in a file before a call is answered, so
/// that it survives a restart.
actor MerchantTokenStore {
  private struct Contents: Codable {
    var tokens: [MerchantToken] = []
    var events: [MerchantTokenEvent] = []
  }

  private static let fileName = "merchant-tokens.json"
  /// How many of each are kept; the oldest go first.
  private static let limit = 10_000
  private static let delay = Duration.seconds(30)

  private let files: StateDirectory
  private let clock: WallClock
  private let random: RandomBytes
  private var contents: Contents
  private var notifying: Task<Void, any Error>?

  init(files: StateDirectory, clock: WallClock, random: RandomBytes) throws {
    (self.files, self.clock, self.random) = (files, clock, random)
    contents =
      try files.text(Self.fileName).map { try JSONDecoder().decode(Contents.self, from: Data($0.utf8)) } ?? Contents()
  }

  /// The newest first.
  var tokens: [MerchantToken] { contents.tokens.reversed() }

  /// What happened to a token, the newest first.
  func events(of token: MerchantToken) -> [MerchantTokenEvent] {
    contents.events.filter { $0.token == token.identifier }.reversed()
  }

  /// Notes a merchant token that a payment token holds. The same again links it again, as a card that comes back does.
  func note(_ card: SandboxCard, for merchant: String, agreement: String, notificationURL: String?) throws {
    guard card.merchantToken != nil else { return }
    let identifier = card.merchantTokenIdentifier(for: merchant)
    var token =
      contents.tokens.first { $0.identifier == identifier }
      ?? MerchantToken(
        identifier: identifier, merchantIdentifier: merchant, cardID: card.id, agreement: agreement,
        suffix: card.suffix, expiry: "12/2031", givenAt: clock.now())
    (token.agreement, token.notificationURL, token.unlinkedBy) = (agreement, notificationURL, nil)
    token.givenAt = clock.now()
    var changed = contents
    changed.tokens.removeAll { $0.identifier == identifier }
    changed.tokens.append(token)
    try commit(changed)
  }

  /// Lets something happen to a merchant token, of which Apple notifies the merchant.
  func happen(
    _ kind: MerchantTokenEvent.Kind, to identifier: String, by party: String, _ delivery: MerchantTokenEvent.Delivery
  ) throws -> MerchantToken {
    guard let index = contents.tokens.firstIndex(where: { $0.identifier == identifier }) else { throw Self.unknown }
    var changed = contents
    var token = changed.tokens[index]
    guard token.unlinkedBy == nil else { throw Self.unlinked }
    switch kind {
    case .unlink: token.unlinkedBy = party
    case .metadata:
      token.replacements += 1
      token.suffix = String(String(10_000 + ((Int(token.suffix) ?? 0) + 1_111) % 10_000).suffix(4))
      token.expiry = "12/\(2_031 + 3 * token.replacements)"
    case .cardArt, .publicKey, .later: break
    }
    changed.tokens[index] = token
    changed.events.append(event(kind, token, party, delivery))
    try commit(changed)
    return token
  }

  private func event(
    _ kind: MerchantTokenEvent.Kind, _ token: MerchantToken, _ party: String, _ delivery: MerchantTokenEvent.Delivery
  ) -> MerchantTokenEvent {
    var body: JSONObject = [
      "eventType": .string(kind.rawValue), "merchantTokenIdentifier": .string(token.identifier),
      "reason": .string(party),
    ]
    if kind == .metadata || kind == .cardArt { body["merchantTokenMetadata"] = token.metadata }
    let waits = delivery == .late || delivery == .outOfOrder
    return MerchantTokenEvent(
      id: random.uuid(), token: token.identifier, merchantIdentifier: token.merchantIdentifier, kind: kind,
      reason: party,
      body: String(decoding: JSONValue.object(body).serialized(), as: UTF8.self), happenedAt: clock.now(),
      notifications: token.notificationURL == nil || delivery == .never ? 0 : delivery == .twice ? 2 : 1,
      notBefore: waits ? clock.now().adding(Self.delay) : clock.now(), yields: delivery == .outOfOrder)
  }

  /// The event of the merchant, for as long as Apple tells; nil for another's.
  func event(_ id: String, of merchants: [String]) -> MerchantTokenEvent? {
    let now = clock.now()
    return contents.events.first {
      $0.id == id && merchants.contains($0.merchantIdentifier) && $0.isTold(at: now)
    }
  }

  /// The merchant charges the token no more.
  ///
  /// - Returns: false where the merchant has no such token, or it is unlinked.
  func unlink(_ identifier: String, of merchants: [String]) throws -> Bool {
    let index = contents.tokens.firstIndex {
      $0.identifier == identifier && merchants.contains($0.merchantIdentifier) && $0.unlinkedBy == nil
    }
    guard let index else { return false }
    var changed = contents
    changed.tokens[index].unlinkedBy = "merchant"
    try commit(changed)
    return true
  }

  /// Sends the notifications that are due, one caller at a time: another waits, and then sends what is left.
  ///
  /// - Parameter get: whether the merchant's server answers 200.
  func notify(by get: @escaping @Sendable (_ url: String) async -> Bool) async throws {
    let earlier = notifying
    let task = Task {
      _ = await earlier?.result
      // What one notification lets go is due at once.
      while case let due = self.due(), !due.isEmpty {
        for notification in due { try self.noteSent(notification.id, acknowledged: await get(notification.url)) }
      }
    }
    notifying = task
    try await task.value
  }

  /// The notifications that are due now, with their addresses.
  private func due() -> [(id: String, url: String)] {
    let now = clock.now()
    return contents.events.compactMap { event in
      guard event.notifications > 0, event.notBefore <= now,
        let url = contents.tokens.first(where: { $0.identifier == event.token })?.notificationURL
      else { return nil }
      return (event.id, "\(url)/notification/merchantToken/\(event.id)")
    }
  }

  /// Whether the merchant's server answered 200. Without it Apple tries three times more, and never again.
  private func noteSent(_ id: String, acknowledged: Bool) throws {
    guard let index = contents.events.firstIndex(where: { $0.id == id }) else { return }
    var changed = contents
    changed.events[index].tries += 1
    changed.events[index].notifiedAt = clock.now()
    if acknowledged { changed.events[index].acknowledged += 1 }
    if acknowledged || changed.events[index].tries >= MerchantTokenEvent.mostTries {
      changed.events[index].notifications -= 1
      changed.events[index].tries = 0
      let sent = changed.events[index]
      for other in changed.events.indices
      where changed.events[other].token == sent.token && changed.events[other].yields && other < index {
        changed.events[other].yields = false
        changed.events[other].notBefore = clock.now()
      }
    }
    try commit(changed)
  }

  private func commit(_ changed: Contents) throws {
    var changed = changed
    changed.tokens = changed.tokens.suffix(Self.limit)
    changed.events = changed.events.suffix(Self.limit)
    try files.write(String(decoding: JSONEncoder().encode(changed), as: UTF8.self) + "\n", to: Self.fileName)
    contents = changed
  }

  private static let unknown = SandboxProblem(
    status: 404, code: "merchant_token_unknown", message: "The wallet has given no such merchant token.")
  private static let unlinked = SandboxProblem(
    status: 409, code: "merchant_token_unlinked",
    message: "This merchant token was unlinked; nothing more happens to it."
  )
}
