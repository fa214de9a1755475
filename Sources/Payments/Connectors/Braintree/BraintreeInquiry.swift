import Acquiring
import HTTPTransport
import TenderPayments

// An authorization, a part that was captured and a refund are found by their order id, which is our reference. A capture
// of all and a void change the authorization's own transaction, which is found by its id.
extension BraintreeConnector {
  enum Lookup<Found: Sendable>: Sendable {
    case found(Found)
    case missing
    case unavailable(Interruption)
  }

  func inquire(_ request: InquiryRequest, _ deadline: Deadline) async -> Inquiry {
    switch (request.kind, request.authorization) {
    case (.authorization, _):
      return await inquiry(try: { await bearing(request.reference, .sale, deadline) }) {
        answers.hold($0, request.amount)
      }
    case (.capture, let authorization?): return await inquireCapture(request, of: authorization, deadline)
    case (.void, let authorization?): return await inquireVoid(of: authorization, deadline)
    case (.refund, let authorization?):
      return await inquireRefund(request, of: request.capture ?? authorization, deadline)
    case (.increment, _):
      return .unavailable(Interruption(.acquirerUncertain, detail: "Tender raises no hold at Braintree"))
    case (.capture, nil), (.void, nil), (.refund, nil):
      return .unavailable(Interruption(.acquirerUncertain, detail: "the authorization's name is not known"))
    }
  }

  private func inquireCapture(
    _ request: InquiryRequest, of authorization: String, _ deadline: Deadline
  ) async -> Inquiry {
    switch await find(authorization, deadline) {
    case .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let sale) where !settings.capturesInParts || sale.isCaptured && !sale.isSettledInParts:
      return captured(sale, request.amount)
    case .found(let sale):
      let part = await inquiry(try: { await bearing(request.reference, .sale, deadline) }) {
        partAnswer($0, request, authorization)
      }
      return part == .notFound ? captured(sale, request.amount) : part
    }
  }

  /// What the authorization's own transaction says of a capture of all.
  private func captured(_ sale: BraintreeTransaction, _ amount: Amount) -> Inquiry {
    if sale.isEnded { return .answer(.declined(Decline(reason: .holdEnded, code: sale.status))) }
    if sale.status == "settlement_declined", answers.has(sale, amount), let decline = sale.decline {
      return .answer(.declined(decline))
    }
    guard sale.isCaptured, !sale.isSettledInParts || answers.has(sale, amount) else { return .notFound }
    guard answers.has(sale, amount) else { return .unavailable(.another) }
    return .answer(.approved(Approval(acquirerReference: sale.id)))
  }

  private func partAnswer(
    _ part: BraintreeTransaction, _ request: InquiryRequest, _ authorization: String
  ) -> AcquirerAnswer {
    guard part.authorization == authorization, answers.has(part, request.amount) else { return .anotherTransaction }
    // A part that was voided later was captured first.
    return part.status == "voided" ? .approved(Approval(acquirerReference: part.id)) : answers.movement(part)
  }

  private func inquireVoid(of authorization: String, _ deadline: Deadline) async -> Inquiry {
    switch await find(authorization, deadline) {
    case .missing: .notFound
    case .unavailable(let interruption): .unavailable(interruption)
    case .found(let sale) where sale.status == "voided": .answer(.approved(Approval(acquirerReference: sale.id)))
    case .found(let sale) where sale.isEnded: .answer(.declined(Decline(reason: .holdEnded, code: sale.status)))
    // An authorization that is still being decided, or was refused, was not voided.
    case .found(let sale) where sale.isHeld || sale.isSettledInParts || sale.isUndecided || sale.isRefused: .notFound
    case .found(let sale): .answer(.declined(Decline(reason: .other, code: sale.status)))
    }
  }

  private func inquireRefund(_ request: InquiryRequest, of capture: String, _ deadline: Deadline) async -> Inquiry {
    let credit = await inquiry(try: { await bearing(request.reference, .credit, deadline) }) {
      $0.refunded == capture && answers.has($0, request.amount) ? answers.movement($0) : .anotherTransaction
    }
    guard credit == .notFound else { return credit }
    // A capture that was not settled yet was voided instead.
    switch await find(capture, deadline) {
    case .found(let sale) where sale.status == "voided":
      guard answers.has(sale, request.amount) else { return .unavailable(.another) }
      return .answer(.approved(Approval(acquirerReference: sale.id)))
    case .found, .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    }
  }

  private func inquiry(
    try look: () async -> Lookup<BraintreeTransaction>, _ read: (BraintreeTransaction) -> AcquirerAnswer
  ) async -> Inquiry {
    switch await look() {
    case .missing: return .notFound
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let transaction):
      let answer = read(transaction)
      if case .unknown(let interruption) = answer { return .unavailable(interruption) }
      return .answer(answer)
    }
  }
}

extension BraintreeConnector {
  /// The transaction of this id.
  func find(_ id: String, _ deadline: Deadline) async -> Lookup<BraintreeTransaction> {
    guard BraintreeTransaction.isName(id) else { return .missing }
    return lookup(await rest("GET", "/transactions/\(id)", nil, deadline), missing: 404) {
      (document) throws(BraintreeXMLError) in
      let transaction = try BraintreeTransaction(try document.named("transaction"))
      guard transaction.id == id else { throw BraintreeXMLError("another transaction") }
      return transaction
    }
  }

  /// The transaction with this order id. Of several those are left out that were refused: a request that arrived twice
  /// may have been done once and rejected once. If several were done, a person has to look.
  private func bearing(
    _ reference: AttemptReference, _ kind: BraintreeTransaction.Kind, _ deadline: Deadline
  ) async -> Lookup<BraintreeTransaction> {
    let all: [BraintreeTransaction]
    switch await search([BraintreeMessages.bearing(reference.rawValue)], deadline) {
    case .missing: return .missing
    case .unavailable(let interruption): return .unavailable(interruption)
    case .found(let transactions):
      guard transactions.allSatisfy({ $0.order == reference.rawValue }) else {
        return .unavailable(Interruption(.unintelligibleAnswer, detail: "a search that found other transactions"))
      }
      all = transactions.filter { $0.kind == kind }
    }
    let done = all.filter { !$0.isRefused }
    guard done.count <= 1 else {
      return .unavailable(
        Interruption(.acquirerUncertain, detail: "\(done.count) transactions have this order id"))
    }
    // A rejected duplicate alone leaves the outcome open: the search may not show the first transaction yet.
    return (done.first ?? all.first).map(Lookup.found) ?? .missing
  }

  /// As Braintree's libraries search: the ids first, then pages of transactions.
  func search(_ criteria: [BraintreeXML], _ deadline: Deadline) async -> Lookup<[BraintreeTransaction]> {
    let first = await rest("POST", "/transactions/advanced_search_ids", BraintreeMessages.search(criteria), deadline)
    let ids: BraintreeSearchResults
    switch lookup(first, { (document) throws(BraintreeXMLError) in try BraintreeSearchResults(document) }) {
    case .found(let results): ids = results
    case .missing: return .missing
    case .unavailable(let interruption): return .unavailable(interruption)
    }
    var found: [BraintreeTransaction] = []
    for page in ids.pages {
      switch await transactions(page, criteria, deadline) {
      case .found(let transactions): found += transactions
      case .missing: continue
      case .unavailable(let interruption): return .unavailable(interruption)
      }
    }
    return found.isEmpty ? .missing : .found(found)
  }

  private func transactions(
    _ ids: [String], _ criteria: [BraintreeXML], _ deadline: Deadline
  ) async -> Lookup<[BraintreeTransaction]> {
    let body = BraintreeMessages.search(criteria, ids: ids)
    return lookup(await rest("POST", "/transactions/advanced_search", body, deadline)) {
      (document) throws(BraintreeXMLError) in
      let elements = try document.named("credit-card-transactions").children.filter { $0.name == "transaction" }
      var found: [BraintreeTransaction] = []
      for element in elements { found.append(try BraintreeTransaction(element)) }
      guard found.map(\.id).sorted() == ids.sorted() else { throw BraintreeXMLError("other transactions") }
      return found
    }
  }

  private func lookup<Found>(
    _ response: Result<InboundResponse, TransportError>, missing: Int? = nil,
    _ read: (BraintreeXML) throws(BraintreeXMLError) -> Found
  ) -> Lookup<Found> {
    switch response {
    case .failure(let error): return .unavailable(error.interruption)
    case .success(let response) where response.status == missing: return .missing
    case .success(let response) where response.status != 200:
      return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    case .success(let response):
      do throws(BraintreeXMLError) { return .found(try read(try BraintreeXML.read(response.body))) } catch {
        return .unavailable(Interruption(.unintelligibleAnswer, detail: error.reason))
      }
    }
  }
}

extension BraintreeXML {
  fileprivate func named(_ name: String) throws(BraintreeXMLError) -> BraintreeXML {
    guard self.name == name else { throw BraintreeXMLError("another document") }
    return self
  }
}

/// The ids that a search found.
private struct BraintreeSearchResults {
  let pages: [[String]]

  init(_ document: BraintreeXML) throws(BraintreeXMLError) {
    let results = try document.named("search-results")
    let ids = try results.child("ids").children.map(\.text)
    guard let size = Int(try results.text("page-size")), (1...1_000).contains(size),
      ids.allSatisfy(BraintreeTransaction.isName)
    else { throw BraintreeXMLError("a search without names or without pages") }
    pages = stride(from: 0, to: ids.count, by: size).map { Array(ids.dropFirst($0).prefix(size)) }
  }
}

extension BraintreeTransaction {
  fileprivate var isUndecided: Bool { status == "authorizing" }

  fileprivate var isRefused: Bool { ["processor_declined", "gateway_rejected", "failed"].contains(status) }
}

extension Interruption {
  fileprivate static var another: Interruption {
    Interruption(.unintelligibleAnswer, detail: "the transaction has another amount")
  }
}
