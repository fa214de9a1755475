import Administration
import Crypto
import Hummingbird
import Ledger
import Storage
import TenderPayments

/// The page of one payment, what can be done to it, and its evidence.
struct PaymentController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .get("/payments/{payment}", .role(.viewer), show),
      .get("/payments/{payment}/evidence", .role(.viewer), evidence),
      .post("/payments/{payment}/resolve", .role(.operator), on: show, resolve),
      .post("/payments/{payment}/approvals/{approval}/{decision}", .role(.operator), on: show, decide),
      .post("/payments/{payment}/{verb}", .role(.operator), on: show, perform),
    ]
  }

  /// - Throws: ``OfficeRefusal`` when there is none, or it is of a merchant where the role is not held.
  private func file(_ call: OfficeCall, _ role: Role) async throws -> PaymentFile {
    let id = PaymentID(call.parameter("payment"))
    guard let file = try await office.database.read({ try PaymentFile.find(id, in: $0) }) else {
      throw OfficeRefusal.nothing
    }
    try call.require(role, of: file.payment.merchant)
    return file
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .viewer)
    let view = PaymentView(file, call.format)
    var values = view.values
    let role = try call.user.role(of: file.payment.merchant)
    if let role, role >= .operator { values["actions"] = view.actions(for: try call.user) }
    let basket = file.payment.basket
    if try call.user.everywhere != nil, office.services.sequences?().contains(where: { $0.basket == basket }) == true {
      values["sequence"] = basket.rawValue
    }
    return try office.pages.page("payment", view.title, call, values)
  }

  private func evidence(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .viewer)
    let view = PaymentView(file, call.format)
    var values = view.values
    values["made"] = call.format.time(office.clock.now())
    values["digest"] = Evidence.digest(file)
    return try office.pages.page("evidence", "Evidence: \(view.title)", call, values)
  }

  private func perform(_ call: OfficeCall) async throws -> Response {
    guard let operation = PaymentAdministration.Operation(rawValue: call.parameter("verb")),
      let done = Self.done[operation]
    else { throw OfficeRefusal.nothing }
    let file = try await file(call, .operator)
    return try await audit("payment.\(operation.rawValue)", on: file, call) {
      try await perform(operation, on: file, call, done)
    }
  }

  /// Does what a person asks for, and notes what came of it: the entry before says only what was asked, and what is refused
  /// early has none.
  ///
  /// - Parameter work: returns no outcome where something else was noted in its place.
  private func audit(
    _ action: String, on file: PaymentFile, _ call: OfficeCall, _ work: () async throws -> (Response, outcome: String?)
  ) async throws -> Response {
    let asked = try call.action(
      action, merchant: file.payment.merchant.rawValue, subject: file.payment.id.rawValue,
      before: file.payment.auditedState, reason: call.form["reason"])
    func note(_ end: AttemptEnd, _ outcome: String) async {
      await OfficeAudit.noteEnd(asked, end, outcome, in: office.database)
    }
    let (response, outcome): (Response, String?)
    do { (response, outcome) = try await work() } catch {
      let refusal = error as? OfficeRefusal
      await note(
        refusal == nil ? .failed : .refused, refusal?.reason ?? "the payment's operations show what was done")
      throw error
    }
    if let outcome { await note(.outcome, outcome) }
    return response
  }

  private func perform(
    _ operation: PaymentAdministration.Operation, on file: PaymentFile, _ call: OfficeCall, _ done: String
  ) async throws -> (Response, outcome: String?) {
    let reason = try call.form.reason
    let key = call.form["key"]
    guard key.utf8.count == 32, Hex.decode(key) != nil else {
      throw OfficeRefusal.badRequest("The form has no key. Load the page again.")
    }
    let amount = try Self.amount(call.form["amount"], file)
    // An empty field is a slip as often as it means everything.
    if amount == nil, operation == .refund || operation == .capture {
      let left = operation == .refund ? file.refundable : file.capturable
      var refusal = OfficeRefusal.badRequest(
        "Nothing was done, because there was no amount. All that is left, \(call.format.amount(left)), stands in the form now: send it "
          + "again if you mean that.", at: "amount")
      refusal.proposal = "\(left)"
      throw refusal
    }
    guard operation != .refund else { return try await refund(amount, file, call, key, reason, done) }
    let isFinal = call.form.isChecked("final")
    let entry = try entry("payment.\(operation.rawValue)", amount, key, file, call, reason)
    // Before the payment is touched, so that nothing is done without an entry.
    try await office.database.write { try OfficeAudit($0).note(entry) }
    let outcome = try await office.services.payments.perform(
      operation, on: file.payment.id, amount: amount?.decimalString, isFinal: isFinal, formKey: key)
    return (back(to: file, done), "\(outcome), key \(key)")
  }

  /// What the page has a form for, and what it says afterwards.
  private static let done: [PaymentAdministration.Operation: String] = [
    .capture: "captured", .void: "voided", .refund: "refunded", .inquire: "inquired", .acknowledge: "acknowledged",
  ]

  private static func amount(_ text: String, _ file: PaymentFile) throws -> Amount? {
    guard !text.isEmpty else { return nil }
    do throws(MistypedAmount) { return try Amount(typed: text, in: file.payment.amount.currency) } catch {
      throw OfficeRefusal.badRequest("\(error)", at: "amount")
    }
  }

  private func entry(
    _ action: String, _ amount: Amount?, _ key: String, _ file: PaymentFile, _ call: OfficeCall, _ reason: String
  ) throws -> OfficeAction {
    let payment = file.payment
    return try call.action(
      action, merchant: payment.merchant.rawValue, subject: payment.id.rawValue, before: payment.auditedState,
      after: "\(amount?.description ?? "all that is left"), key \(key)", reason: reason)
  }

  private func back(to file: PaymentFile, _ done: String) -> Response {
    .redirect(to: "/payments/\(file.payment.id)?done=\(done)", type: .normal)
  }

  private func resolve(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .operator)
    return try await audit("payment.resolve", on: file, call) { try await resolve(file, call) }
  }

  private func resolve(_ file: PaymentFile, _ call: OfficeCall) async throws -> (Response, outcome: String?) {
    let reason = try call.form.reason
    guard let resolution = Resolution(rawValue: call.form["as"]) else {
      throw OfficeRefusal.badRequest("Choose what has happened at the provider.", at: "as")
    }
    let operation = call.form["operation"]
    let entry = try entry("payment.resolve.\(resolution.rawValue)", nil, operation, file, call, reason)
    try await office.database.write { try OfficeAudit($0).note(entry) }
    let report = try await OfficeRefusal.translating {
      try await office.services.payments.resolve(
        file.payment.id, as: resolution, operation: operation.isEmpty ? nil : AttemptReference(operation), note: reason)
    }
    return (back(to: file, "resolved"), report.outcome)
  }
}

// Refunds above an operator's limit: a second person decides.
extension PaymentController {
  /// Refunds, or asks for a second person where the amount that would be reserved is above the limit. The commit that
  /// reserves it holds the judgement and the entry of the audit chain.
  private func refund(
    _ amount: Amount?, _ file: PaymentFile, _ call: OfficeCall, _ key: String, _ reason: String, _ done: String
  ) async throws -> (Response, outcome: String?) {
    let (limit, payment) = (RefundLimit(user: try call.user), file.payment)
    let entry = try entry("payment.refund", amount, key, file, call, reason)
    do {
      let outcome = try await office.services.payments.perform(
        .refund, on: payment.id, amount: amount?.decimalString, formKey: key
      ) { attempts, store in
        try limit.take(attempts, of: payment, in: store)
        try OfficeAudit(store).note(entry)
      }
      return (back(to: file, done), "\(outcome), key \(key)")
    } catch let exceeded as RefundLimit.Exceeded {
      try await request(exceeded.amount, file, call, key, reason)
      return (back(to: file, "requested"), nil)
    }
  }

  private func request(
    _ amount: Amount, _ file: PaymentFile, _ call: OfficeCall, _ key: String, _ reason: String
  ) async throws {
    let (user, payment) = (try call.user, file.payment)
    // Two people who look at the same page ask for two refunds, also for the same amount.
    let parts = [key, user.name, payment.id.rawValue, "\(amount)"].joined(separator: "|")
    let id = Hex.encode(SHA256.hash(data: Array(parts.utf8)).prefix(16))
    let entry = try call.action(
      "refund.request", merchant: payment.merchant.rawValue, subject: payment.id.rawValue,
      before: file.payment.auditedState, after: "\(amount)", reason: reason)
    let waits = try await office.database.write { store in
      guard try RefundApprovals(store: store).request(id, payment, amount, reason: reason, by: user.name) else {
        return false
      }
      try OfficeAudit(store).note(entry)
      return true
    }
    guard waits else { throw OfficeRefusal.conflict("This refund was decided already. Load the page again.") }
  }

  private func decide(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .operator)
    let id = call.parameter("approval")
    guard let approval = file.approvals.first(where: { $0.id.utf8.elementsEqual(id.utf8) }),
      let state = ["approve": RefundApproval.State.approved, "reject": .rejected][call.parameter("decision")]
    else { throw OfficeRefusal.nothing }
    return try await audit("payment.refund", on: file, call) { try await decide(approval, state, file, call) }
  }

  private func decide(
    _ approval: RefundApproval, _ state: RefundApproval.State, _ file: PaymentFile, _ call: OfficeCall
  ) async throws -> (Response, outcome: String?) {
    let record = try record(state, approval, file, call)
    guard state == .approved else {
      if let record { try await office.database.write { try record([], $0) } }
      return (back(to: file, "rejected"), nil)
    }
    let key = "approval-\(approval.id)"
    // In the commit that reserves the refund: one that is refused leaves the request open.
    let outcome = try await office.services.payments.perform(
      .refund, on: file.payment.id, amount: approval.amount.decimalString, formKey: key, adding: record)
    // The refund may be another user's, who approved it after this call looked: then nothing was recorded here.
    let decided = try await office.database.read { try RefundApprovals(store: $0).find(approval.id) }
    guard try decided?.decidedBy?.utf8.elementsEqual(call.user.name.utf8) == true else {
      throw OfficeRefusal.conflict("Another user has decided just now.")
    }
    return (back(to: file, "approved"), "\(outcome), key \(key)")
  }

  /// How long after the decision an approval is sent again; far less than idempotency keys are kept.
  private static let repeatable = Duration.seconds(3_600)

  /// Notes the decision, in a transaction of the caller's. Nil where this user has decided so before.
  private func record(
    _ state: RefundApproval.State, _ approval: RefundApproval, _ file: PaymentFile, _ call: OfficeCall
  ) throws -> ReservationAddition? {
    let name = try call.user.name
    let entry = try call.action(
      "refund.\(state.rawValue)", merchant: file.payment.merchant.rawValue, subject: file.payment.id.rawValue,
      before: file.payment.auditedState, after: "\(approval.amount) asked for by \(approval.requestedBy)",
      reason: call.form.reason)
    // A user who approves a second time, after a lost answer, gets the refund's answer again: as long as the key of the
    // refund is certainly remembered.
    if approval.state == state, let decidedBy = approval.decidedBy, decidedBy.utf8.elementsEqual(name.utf8) {
      guard let decidedAt = approval.decidedAt, office.clock.now().since(decidedAt) < Self.repeatable else {
        throw OfficeRefusal.conflict("You have decided this already; the payment shows what became of it.")
      }
      return nil
    }
    guard approval.state == .waiting else {
      throw OfficeRefusal.conflict(
        "This refund was \(approval.state.rawValue) by \(approval.decidedBy ?? "another user").")
    }
    return { _, store in
      guard try RefundApprovals(store: store).decide(approval.id, state, by: name) else {
        throw OfficeRefusal.conflict(
          state == .approved && approval.requestedBy.utf8.elementsEqual(name.utf8)
            ? "You asked for this refund yourself: another user approves it." : "Another user has decided just now.")
      }
      try OfficeAudit(store).note(entry)
    }
  }
}
