import Administration
import Hummingbird
import Ledger
import Storage
import TenderPayments

/// The list of agreements with shoppers, and the page of one, where it can be ended.
struct AgreementController: Sendable {
  let office: BackOffice
  private static let limit: Int64 = 50

  var routes: [OfficeRoute] {
    [
      .get("/agreements", .role(.viewer), list), .get("/agreements/{agreement}", .role(.viewer), show),
      .post("/agreements/{agreement}/end", .role(.operator), on: show, end),
    ]
  }

  private func list(_ call: OfficeCall) async throws -> Response {
    let (merchants, status) = (try call.user.merchants, call.query("status").flatMap(AgreementStatus.init(rawValue:)))
    let before = call.query("before").map { AgreementID($0) }
    let now = office.clock.now()
    let (found, rows) = try await office.database.read { store in
      let found = try Journal.agreements(of: merchants, status: status, before: before, limit: Self.limit, in: store)
      return (found, try found.map { try AgreementRow($0, at: now, in: store) })
    }
    var values: [String: Any] = [
      "agreements": rows.map { $0.values(call.format) }, "isEmpty": found.isEmpty, "hasAgreements": !found.isEmpty,
      "statuses": AgreementStatus.allCases.map {
        ["value": $0.rawValue, "name": $0.rawValue, "isHere": $0 == status] as [String: Any]
      }, "isOfAll": status == nil, "place": call.format.place,
    ]
    if found.count == Int(Self.limit), let last = found.last {
      values["next"] = PaymentListController.address(
        (status.map { [("status", $0.rawValue)] } ?? []) + [("before", last.id.rawValue)])
    }
    return try office.pages.page("agreements", "Agreements", call, values)
  }

  /// - Throws: ``OfficeRefusal`` when there is none, or it is of a merchant where the role is not held.
  private func file(_ call: OfficeCall, _ role: Role) async throws -> AgreementFile {
    let id = AgreementID(call.parameter("agreement"))
    let now = office.clock.now()
    guard let file = try await office.database.read({ try AgreementFile.find(id, at: now, in: $0) }) else {
      throw OfficeRefusal.nothing
    }
    try call.require(role, of: file.agreement.merchant)
    return file
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .viewer)
    let agreement = file.agreement
    var values = file.values(call.format)
    let role = try call.user.role(of: agreement.merchant)
    values["mayEnd"] = role.map { $0 >= .operator } == true && agreement.status != .ended
    return try office.pages.page("agreement", "Agreement \(agreement.merchantReference)", call, values)
  }

  private func end(_ call: OfficeCall) async throws -> Response {
    let agreement = try await file(call, .operator).agreement
    let reason = try call.form.reason
    let asked = try call.action(
      "agreement.end", merchant: agreement.merchant.rawValue, subject: agreement.id.rawValue,
      before: agreement.status.rawValue, reason: reason)
    _ = try await OfficeAudit.attempt(asked, in: office.database, outcome: { $0.status.rawValue }) {
      try await OfficeRefusal.translating {
        try await office.services.payments.end(agreement.id, of: agreement.merchant, because: reason)
      }
    }
    return .redirect(to: "/agreements/\(agreement.id)?done=agreement-ended", type: .normal)
  }
}

/// An agreement in the list.
private struct AgreementRow: Sendable {
  let agreement: Agreement
  let price: Amount
  /// When the next period begins.
  let due: Timestamp?

  init(_ agreement: Agreement, at now: Timestamp, in store: Transaction) throws {
    self.agreement = agreement
    price = try agreement.price(at: now, in: store)
    due = agreement.status == .ended ? nil : agreement.dueSchedule ?? agreement.calendar?.next(after: now)?.due
  }

  func values(_ format: OfficeFormat) -> [String: Any] {
    [
      "id": agreement.id.rawValue, "began": format.moment(agreement.createdAt),
      "reference": agreement.merchantReference, "kind": agreement.terms.kind.shown, "amount": format.amount(price),
      "status": agreement.status.rawValue, "due": due.map { [format.moment($0)] } ?? [],
      "merchant": agreement.merchant.rawValue,
    ]
  }
}

/// An agreement with all that its page shows.
private struct AgreementFile: Sendable {
  let agreement: Agreement
  let charges: [ChargedPeriod]
  let history: [AgreementChange]
  let retries: AgreementRetries
  let token: MerchantTokenFacts?
  let current: AgreementCalendar.Period?
  let next: AgreementCalendar.Period?
  let price: Amount
  let prices: [AgreementPrice]

  static func find(_ id: AgreementID, at now: Timestamp, in store: Transaction) throws -> AgreementFile? {
    guard let merchant = try Journal.merchant(of: id, in: store),
      let agreement = try Journal.agreement(id, of: merchant, in: store)
    else { return nil }
    return AgreementFile(
      agreement: agreement, charges: try Journal.charges(of: id, in: store),
      history: try Journal.history(of: id, in: store), retries: try Journal.retries(of: id, in: store),
      token: try Journal.merchantTokenFacts(of: agreement, in: store),
      current: try agreement.period(in: store) { $0.current(at: now) },
      next: try agreement.period(in: store) { $0.next(after: now) },
      price: try agreement.price(at: now, in: store), prices: try Journal.prices(of: agreement, in: store))
  }

  func values(_ format: OfficeFormat) -> [String: Any] {
    [
      "id": agreement.id.rawValue, "status": agreement.status.rawValue, "amount": format.amount(price),
      "place": format.place, "kind": agreement.terms.kind.shown, "payment": agreement.firstPayment.rawValue,
      "facts": facts(format).map { ["name": $0.0, "value": $0.1] }, "charges": charges.map { Self.row($0, format) },
      "hasCharges": !charges.isEmpty, "stopped": retries.stopped?.shown ?? "",
      "history": history.map { Self.row($0, format) },
    ]
  }

  private func facts(_ format: OfficeFormat) -> [(String, String)] {
    let terms = agreement.terms.terms
    let all: [(String, String?)] = [
      ("Agreement", agreement.id.rawValue), ("Merchant", agreement.merchant.rawValue),
      ("Merchant’s reference", agreement.merchantReference), ("Customer", agreement.customer),
      ("For", terms.paymentDescription), ("Terms", terms.billingAgreement), ("Managed at", terms.managementURL),
      ("Began", format.time(agreement.createdAt)), ("Time zone", agreement.timeZone),
      ("Current period", agreement.status == .ended ? nil : Self.text(current, format)),
      ("Next period", agreement.status == .ended ? nil : Self.text(next, format)),
      ("Prices named", prices.isEmpty ? nil : prices.map { Self.text($0, format) }.joined(separator: "; ")),
      ("Schedule", schedule(format)),
      ("Declined within 30 days", retries.declines > 0 ? "\(retries.declines)" : nil),
      ("No charge before", retries.notBefore.map { format.time($0) }),
      ("Merchant token", agreement.merchantToken == nil ? "none" : "given"),
      ("Card now", token?.card.map(Self.text)), ("Said by Apple", token?.describedAt.map { format.time($0) }),
      ("At Apple", token?.shown),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  private func schedule(_ format: OfficeFormat) -> String {
    guard let schedule = agreement.schedule else { return "none: each charge is made by a call" }
    return "period \(schedule.period), \(agreement.dueSchedule.map { format.time($0) } ?? "nothing is due")"
  }

  private static func text(_ period: AgreementCalendar.Period?, _ format: OfficeFormat) -> String? {
    period.map { "\($0.number), \(format.amount($0.amount))\($0.due.map { ", from \(format.time($0))" } ?? "")" }
  }

  private static func text(_ price: AgreementPrice, _ format: OfficeFormat) -> String {
    "\(format.amount(price.amount)) from \(format.time(price.from))"
  }

  private static func text(_ card: MerchantTokenCard) -> String {
    [card.name, card.suffix.map { "•••• \($0)" }, card.expiry.map { "to \($0)" }, card.country]
      .compactMap(\.self).joined(separator: ", ")
  }

  private static func row(_ charge: ChargedPeriod, _ format: OfficeFormat) -> [String: Any] {
    [
      "period": "\(charge.period)", "due": charge.due.map { [format.moment($0)] } ?? [],
      "payment": charge.payment?.id.rawValue ?? "",
      "amount": charge.payment.map { format.amount($0.amount) } ?? "–",
      "status": charge.payment?.status.shown ?? "not begun",
      "statusClass": charge.payment?.status.rawValue ?? "",
    ]
  }

  private static func row(_ change: AgreementChange, _ format: OfficeFormat) -> [String: Any] {
    [
      "at": format.moment(change.at), "event": change.event.shown, "after": change.after.rawValue,
      "party": change.party.shown, "reason": change.reason ?? "",
    ]
  }
}

extension MerchantTokenFacts {
  fileprivate var shown: String? {
    switch unlinking {
    case nil: nil
    case .due: "to be unlinked"
    case .done: "unlinked"
    case .refused: "not unlinked: \(detail ?? "refused")"
    }
  }
}

extension AgreementEvent {
  fileprivate var shown: String { rawValue.spaced }
}

extension AgreementKind {
  fileprivate var shown: String { rawValue.spaced }
}

extension AgreementParty {
  fileprivate var shown: String { rawValue.spaced }
}

extension Agreement {
  /// A period of its calendar, with the price that the merchant has named for it.
  fileprivate func period(
    in store: Transaction, _ find: (AgreementCalendar) -> AgreementCalendar.Period?
  ) throws -> AgreementCalendar.Period? {
    try calendar.flatMap(find).map { try Journal.applyPrice(to: $0, of: self, in: store) }
  }

  /// When its schedule is looked at; nil where it is not active.
  fileprivate var dueSchedule: Timestamp? { status == .active ? schedule?.at : nil }
}
