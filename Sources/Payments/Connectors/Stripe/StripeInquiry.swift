import Acquiring
import StrictJSON
import TenderPayments

// An intent is found by its name where an answer gave one. By our reference it is looked for in two ways: a search, which
// is quick and may not show a new intent for a minute or longer, and the listing, which is complete at once.
extension StripeConnector {
  enum Lookup<Found: Sendable>: Sendable {
    case found(Found)
    case missing
    case unavailable(Interruption)
  }

  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    guard StripeName.isReference(request.reference) else { return .notFound }
    switch (request.kind, request.authorization) {
    case (.authorization, _):
      return inquiry(await authorization(request, deadline)) { answers.hold($0, request.amount) }
    case (.capture, let name?): return await inquireCapture(request, of: name, deadline)
    case (.void, let name?): return await inquireVoid(of: name, deadline)
    case (.refund, let name?):
      return inquiry(await refund(request, of: name, deadline)) { answers.refunded($0, request.amount) }
    case (.increment, _):
      return .unavailable(Interruption(.acquirerUncertain, detail: "Tender raises no hold at Stripe"))
    case (.capture, nil), (.void, nil), (.refund, nil):
      return .unavailable(Interruption(.acquirerUncertain, detail: "the authorization's name is not known"))
    }
  }

  private func inquireCapture(
    _ request: InquiryRequest, of name: String, _ deadline: Deadline
  ) async -> Inquiry {
    switch await intent(name, deadline) {
    case .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let intent):
      guard let answer = answers.captured(intent, by: request.reference, request.amount) else {
        return intent.status == "requires_capture" ? .notFound : .answer(.declined(answers.ended(intent)))
      }
      return Inquiry(answer)
    }
  }

  private func inquireVoid(of name: String, _ deadline: Deadline) async -> Inquiry {
    switch await intent(name, deadline) {
    case .missing: .notFound
    case .unavailable(let interruption): .unavailable(interruption)
    case .found(let intent) where intent.status == "canceled" && !intent.isExpired:
      .answer(.approved(Approval(acquirerReference: intent.id)))
    // An authorization that is still being decided, or was refused, was not voided.
    case .found(let intent) where ["requires_capture", "processing", "requires_payment_method"].contains(intent.status):
      .notFound
    case .found(let intent): .answer(.declined(answers.ended(intent)))
    }
  }

  private func inquiry<Found>(_ lookup: Lookup<Found>, _ read: (Found) -> AcquirerAnswer) -> Inquiry {
    switch lookup {
    case .missing: .notFound
    case .unavailable(let interruption): .unavailable(interruption)
    case .found(let found): Inquiry(read(found))
    }
  }
}

extension Inquiry {
  fileprivate init(_ answer: AcquirerAnswer) {
    if case .unknown(let interruption) = answer { self = .unavailable(interruption) } else { self = .answer(answer) }
  }
}

// Intents.
extension StripeConnector {
  private func authorization(_ request: InquiryRequest, _ deadline: Deadline) async -> Lookup<StripeIntent> {
    if let name = request.acquirerReference { return ours(await intent(name, deadline), request.reference) }
    let query = StripeMessages.search(request.reference)
    let found = await page("/payment_intents/search", query, deadline, StripeIntent.ours)
    if case .found(let page) = found, let intent = page.items.first(where: { $0.reference == request.reference }) {
      // What a search shows may be old.
      return ours(await self.intent(intent.id, deadline), request.reference)
    }
    return await scan(request, deadline)
  }

  /// Looks through every intent of the time in which the request can have arrived. Our clock and Stripe's may differ.
  private func scan(_ request: InquiryRequest, _ deadline: Deadline) async -> Lookup<StripeIntent> {
    guard let sentAt = request.sentAt else {
      return .unavailable(Interruption(.acquirerUncertain, detail: "when it was sent is not known"))
    }
    let period = sentAt.adding(.seconds(-300))..<sentAt.adding(.seconds(900))
    switch await intents(created: period, deadline) {
    case .missing: return .missing
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let intents): return await single(intents.filter { $0.reference == request.reference }, deadline)
    }
  }

  /// The one intent that was not declined. If several were paid, a person has to look.
  private func single(_ intents: [StripeIntent], _ deadline: Deadline) async -> Lookup<StripeIntent> {
    let done = intents.filter { $0.status != "requires_payment_method" }
    guard done.count <= 1 else {
      return .unavailable(Interruption(.acquirerUncertain, detail: "\(done.count) intents have this reference"))
    }
    guard let found = done.first ?? intents.first else { return .missing }
    return await intent(found.id, deadline)
  }

  private func ours(_ lookup: Lookup<StripeIntent>, _ reference: AttemptReference) -> Lookup<StripeIntent> {
    guard case .found(let intent) = lookup, intent.reference != reference else { return lookup }
    return .unavailable(Interruption(.unintelligibleAnswer, detail: "the intent is another one's"))
  }

  /// The intent of this name, with its charge.
  private func intent(_ name: String, _ deadline: Deadline) async -> Lookup<StripeIntent> {
    guard StripeName.isName(name) else { return .missing }
    return lookup(await get("/payment_intents/\(name)", StripeMessages.expandingCharge, deadline)) {
      (root) throws(JSONError) in
      let intent = try StripeIntent(root)
      guard intent.id == name, intent.isLive == settings.isLive else {
        throw JSONError(.invalid, path: root.path, "another intent")
      }
      return intent
    }
  }

  func intents(created period: Range<Timestamp>, _ deadline: Deadline) async -> Lookup<[StripeIntent]> {
    await all(
      "/payment_intents", deadline, query: { StripeMessages.page(created: period, after: $0) }, StripeIntent.ours)
  }
}

// Refunds.
extension StripeConnector {
  private func refund(
    _ request: InquiryRequest, of intent: String, _ deadline: Deadline
  ) async -> Lookup<StripeRefund> {
    if let name = request.acquirerReference, StripeName.isName(name) {
      let found = lookup(await get("/refunds/\(name)", StripeForm(), deadline)) { (root) throws(JSONError) in
        try StripeRefund(root)
      }
      guard case .found(let refund) = found, refund.id != name || refund.intent != intent else { return found }
      return .unavailable(Interruption(.unintelligibleAnswer, detail: "the refund is another one"))
    }
    guard StripeName.isName(intent) else { return .missing }
    let query = { StripeMessages.page(intent: intent, after: $0) }
    switch await all("/refunds", deadline, query: query, StripeRefund.read) {
    case .missing: return .missing
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let refunds):
      return refunds.first { $0.reference == request.reference && $0.intent == intent }.map(Lookup.found) ?? .missing
    }
  }

  func refunds(created period: Range<Timestamp>, _ deadline: Deadline) async -> Lookup<[StripeRefund]> {
    await all("/refunds", deadline, query: { StripeMessages.page(created: period, after: $0) }, StripeRefund.read)
  }
}

// Listings.
extension StripeConnector {
  typealias Reading<Item> = (JSONField) throws(JSONError) -> Item?

  private struct Page<Item: Sendable>: Sendable {
    let items: [Item]
    /// Where the next page begins; nil for the last page.
    let next: String?
  }

  /// Everything of ours that a listing holds, page after page, until the time is up.
  private func all<Item: Sendable>(
    _ path: String, _ deadline: Deadline, query: (_ last: String?) -> StripeForm, _ read: Reading<Item>
  ) async -> Lookup<[Item]> {
    var found: [Item] = []
    var last: String?
    repeat {
      switch await page(path, query(last), deadline, read) {
      case .missing: return .missing
      case .unavailable(let interruption): return .unavailable(interruption)
      case .found(let page):
        found += page.items
        last = page.next
      }
    } while last != nil
    return found.isEmpty ? .missing : .found(found)
  }

  private func page<Item>(
    _ path: String, _ query: StripeForm, _ deadline: Deadline, _ read: Reading<Item>
  ) async -> Lookup<Page<Item>> {
    lookup(await get(path, query, deadline)) { (root) throws(JSONError) in
      guard ["list", "search_result"].contains(try root.member("object").string) else {
        throw JSONError(.invalid, path: root.path, "not a listing")
      }
      let data = try root.member("data").array
      var items: [Item] = []
      for element in data {
        if let item = try read(element) { items.append(item) }
      }
      guard try root.member("has_more").bool else { return Page(items: items, next: nil) }
      guard let last = data.last else { throw JSONError(.invalid, path: root.path, "an empty page before others") }
      return Page(items: items, next: try last.stripeName("id"))
    }
  }

  private func lookup<Found>(
    _ reply: StripeReply, _ read: (JSONField) throws(JSONError) -> Found
  ) -> Lookup<Found> {
    switch reply {
    case .refused(let refusal) where refusal.status == 404: return .missing
    case .refused(let refusal): return .unavailable(Interruption(.serverError, detail: "HTTP \(refusal.status)"))
    case .notSent(let reason): return .unavailable(Interruption(.connectionLost, detail: "not sent: \(reason)"))
    case .unknown(let interruption): return .unavailable(interruption)
    case .done(let root):
      do throws(JSONError) { return .found(try read(root)) } catch {
        return .unavailable(Interruption(.unintelligibleAnswer, detail: error.description))
      }
    }
  }
}
