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
    let found = try await office.database.read {
      try Journal.agreements(of: merchants, status: status, before: before, limit: Self.limit, in: $0)
    }
    let now = office.clock.now()
    var values: [String: Any] = [
      "agreements": found.map { Self.row($0, at: now) }, "isEmpty": found.isEmpty, "hasAgreements": !found.isEmpty,
      "statuses": AgreementStatus.allCases.map {
        ["value": $0.rawValue, "name": $0.rawValue, "isHere": $0 == status] as [String: Any]
      }, "isOfAll": status == nil,
    ]
    if found.count == Int(Self.limit), let last = found.last {
      values["next"] = PaymentListController.address(
        (status.map { [("status", $0.rawValue)] } ?? []) + [("before", last.id.rawValue)])
    }
    return try office.pages.page("agreements", "Agreements", call, values)
  }

  private static func row(_ agreement: Agreement, at now: Timestamp) -> [String: Any] {
    [
      "id": agreement.id.rawValue, "began": agreement.createdAt.shown, "reference": agreement.merchantReference,
      "kind": agreement.terms.kind.shown, "amount": agreement.terms.amount.shown, "status": agreement.status.rawValue,
      "next": (agreement.dueSchedule ?? agreement.calendar?.next(after: now)?.due)?.shown ?? "–",
      "merchant": agreement.merchant.rawValue,
    ]
  }

  /// - Throws: ``OfficeRefusal`` when there is none, or it is of a merchant where the role is not held.
  private func file(_ call: OfficeCall, _ role: Role) async throws -> AgreementFile {
    let id = AgreementID(call.parameter("agreement"))
    guard let file = try await office.database.read({ try AgreementFile.find(id, in: $0) }) else {
      throw OfficeRefusal.nothing
    }
    try call.require(role, of: file.agreement.merchant)
    return file
  }

  private func show(_ call: OfficeCall) async throws -> Response {
    let file = try await file(call, .viewer)
    let agreement = file.agreement
    var values = file.values(at: office.clock.now())
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

/// An agreement with all that its page shows.
private struct AgreementFile: Sendable {
  let agreement: Agreement
  let charges: [ChargedPeriod]
  let history: [AgreementChange]
  let retries: AgreementRetries
  let token: MerchantTokenFacts?

  static func find(_ id: AgreementID, in store: Transaction) throws -> AgreementFile? {
    guard let merchant = try Journal.merchant(of: id, in: store),
      let agreement = try Journal.agreement(id, of: merchant, in: store)
    else { return nil }
    return AgreementFile(
      agreement: agreement, charges: try Journal.charges(of: id, in: store),
      history: try Journal.history(of: id, in: store), retries: try Journal.retries(of: id, in: store),
      token: try Journal.merchantTokenFacts(of: agreement, in: store))
  }

  func values(at now: Timestamp) -> [String: Any] {
    [
      "id": agreement.id.rawValue, "status": agreement.status.rawValue, "amount": agreement.terms.amount.shown,
      "kind": agreement.terms.kind.shown, "payment": agreement.firstPayment.rawValue,
      "facts": facts(at: now).map { ["name": $0.0, "value": $0.1] }, "charges": charges.map(Self.row),
      "hasCharges": !charges.isEmpty, "stopped": retries.stopped?.shown ?? "", "history": history.map(Self.row),
    ]
  }

  private func facts(at now: Timestamp) -> [(String, String)] {
    let (terms, calendar) = (agreement.terms.terms, agreement.calendar)
    let all: [(String, String?)] = [
      ("Agreement", agreement.id.rawValue), ("Merchant", agreement.merchant.rawValue),
      ("Merchant’s reference", agreement.merchantReference), ("Customer", agreement.customer),
      ("For", terms.paymentDescription), ("Terms", terms.billingAgreement), ("Managed at", terms.managementURL),
      ("Began", "\(agreement.createdAt.shown) UTC"), ("Time zone", agreement.timeZone),
      ("Current period", Self.text(calendar?.current(at: now))), ("Next period", Self.text(calendar?.next(after: now))),
      ("Schedule", schedule),
      ("Declined within 30 days", retries.declines > 0 ? "\(retries.declines)" : nil),
      ("No charge before", retries.notBefore.map { "\($0.shown) UTC" }),
      ("Merchant token", agreement.merchantToken == nil ? "none" : "given"),
      ("Card now", token?.card.map(Self.text)), ("Said by Apple", token?.describedAt.map { "\($0.shown) UTC" }),
      ("At Apple", token?.shown),
    ]
    return all.compactMap { name, value in value.map { (name, $0) } }
  }

  private var schedule: String {
    guard let schedule = agreement.schedule else { return "none: each charge is made by a call" }
    return "period \(schedule.period), \(agreement.dueSchedule.map { "\($0.shown) UTC" } ?? "nothing is due")"
  }

  private static func text(_ period: AgreementCalendar.Period?) -> String? {
    period.map { "\($0.number), \($0.amount.shown)\($0.due.map { ", from \($0.shown) UTC" } ?? "")" }
  }

  private static func text(_ card: MerchantTokenCard) -> String {
    [card.name, card.suffix.map { "•••• \($0)" }, card.expiry.map { "to \($0)" }, card.country]
      .compactMap(\.self).joined(separator: ", ")
  }

  private static func row(_ charge: ChargedPeriod) -> [String: Any] {
    [
      "period": "\(charge.period)", "due": charge.due?.shown ?? "–", "payment": charge.payment?.id.rawValue ?? "",
      "amount": charge.payment?.amount.shown ?? "–", "status": charge.payment?.status.shown ?? "not begun",
      "statusClass": charge.payment?.status.rawValue ?? "",
    ]
  }

  private static func row(_ change: AgreementChange) -> [String: Any] {
    [
      "at": change.at.shown, "event": change.event.shown, "after": change.after.rawValue,
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
  fileprivate var shown: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }
}

extension AgreementKind {
  fileprivate var shown: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }
}

extension AgreementParty {
  fileprivate var shown: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }
}

extension DeclineReason {
  fileprivate var shown: String { String(rawValue.map { $0 == "_" ? " " : $0 }) }
}

extension Agreement {
  /// When its schedule is looked at; nil where it is not active.
  fileprivate var dueSchedule: Timestamp? { status == .active ? schedule?.at : nil }
}
