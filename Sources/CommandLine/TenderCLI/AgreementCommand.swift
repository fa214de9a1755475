import Administration
import ArgumentParser
import CommandSupport
import DirectWire
import Foundation
import HTTPTransport
import Ledger
import TenderPayments
import TenderServer

/// `tender agreement`
struct AgreementCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "agreement", abstract: "Looks at agreements with shoppers; charges and ends them.",
    subcommands: [List.self, Show.self, Charge.self, Price.self, Suspend.self, Resume.self, End.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Agreements, the newest first.")
    @OptionGroup var journal: JournalOptions
    @Option(help: "Only this merchant's.") var merchant: String?
    @Option(help: "Only those that are pending, active, suspended or ended.") var status: StatusName?
    @Option(help: "How many, up to 500.") var limit = 50

    enum StatusName: String, ExpressibleByArgument, CaseIterable { case pending, active, suspended, ended }

    func validate() throws {
      guard (1...500).contains(limit) else { throw ValidationError("--limit is 1 to 500.") }
    }

    func run() async throws {
      let (merchant, status, limit) = (merchant, status?.rawValue, Int64(limit))
      let query = [
        merchant.map { "merchant=\($0.inQuery)" }, status.map { "status=\("\($0)".inQuery)" }, "limit=\(limit)",
      ].compactMap(\.self).joined(separator: "&")
      let found = try await journal.store.access().ask(
        here: {
          try await PaymentAdministration.agreements(
            $0, of: merchant.map { MerchantID($0) }, status: status.flatMap { AgreementStatus(rawValue: $0) },
            limit: limit)
        }, there: ("GET", "/agreements?" + query))
      guard !journal.json else { return Terminal.say(try Terminal.json(found.agreements)) }
      AgreementReport.table(of: found.agreements).show("agreement")
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "One agreement, with its calendar, charges and history.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String

    func run() async throws { try await journal.show(journal.agreement(id)) }
  }

  struct Charge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "charge", abstract: "Charges a period of an agreement, once.",
      discussion:
        "Exit code 0 says that the acquirer did it or has taken it on, 1 that it refused or that the outcome is unknown."
    )
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String
    @Option(help: "The number of the period; the current one by default.") var period: Int64?
    @Option(parsing: .unconditional, help: "For example 10.00; the agreement's by default.") var amount: String?
    @OptionGroup var consent: ConsentOptions

    func run() async throws {
      let before = try await journal.agreement(self.id)
      let (id, period, amount) = ("\(before.agreement.id)", period, amount)
      try Confirmation.require("charge \(try before.charge(of: period, amount))", isConfirmed: consent.yes)
      let (key, user, reason) = (consent.announcedKey(), NSUserName(), consent.reason ?? "")
      let query = [
        period.map { "period=\("\($0)".inQuery)" }, amount.map { "amount=\($0.inQuery)" }, "key=\(key.inQuery)",
        "by=\(user.inQuery)", "reason=\(reason.inQuery)",
      ].compactMap(\.self).joined(separator: "&")
      let report = try await journal.ask("/agreements/\(id.inQuery)/charge?" + query) {
        try await $0.charge(
          id, period: period, amount: amount, key: key, by: CommandLineOperator(user, because: reason))
      }
      if let payment = report.payment, !journal.json { Terminal.say("\(payment.id): \(payment.outcome)") }
      try journal.show(report)
      guard let payment = report.payment, payment.status.isLive, payment.status.isResolved || payment.status == .pending
      else {
        throw CallFailure(
          "the charge is \(report.payment?.status.rawValue ?? "not known"): tender payment show tells more")
      }
    }
  }

  struct Price: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "price", abstract: "Names the price of an agreement's coming periods.",
      discussion: "Periods of a trial keep their price. It is yours to tell the shopper in time.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String
    @Argument(help: "In the agreement's currency, for example 14.90.") var amount: String
    @Option(help: "For periods that are due then or later, as 2027-06-01T00:00:00Z; now by default.") var from: String?
    @Option(help: "Why, for the history and the audit.") var reason: String

    func validate() throws {
      guard from.map({ Timestamp(rfc3339: $0) != nil }) ?? true else {
        throw ValidationError("--from “\(from ?? "")” is no time; write it as 2027-06-01T00:00:00Z.")
      }
      try reason.requireWords()
    }

    func run() async throws {
      let (id, amount, from, user, reason) = (id, amount, from, NSUserName(), reason)
      let query = [
        "amount=\(amount.inQuery)", from.map { "from=\($0.inQuery)" }, "by=\(user.inQuery)", "reason=\(reason.inQuery)",
      ].compactMap(\.self).joined(separator: "&")
      try journal.show(
        await journal.ask("/agreements/\(id.inQuery)/change?" + query) {
          try await $0.change(id, amount: amount, from: from, by: CommandLineOperator(user, because: reason))
        })
    }
  }

  struct Suspend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "suspend", abstract: "Suspends an agreement: it cannot be charged until it is resumed.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String
    @Option(help: "Why, for the history and the audit.") var reason: String

    func validate() throws { try reason.requireWords() }

    func run() async throws { try await journal.change(id, to: .suspended, because: reason) }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume", abstract: "Resumes an agreement that is suspended.",
      discussion: "If Tender charges it by its schedule, its current period is charged at once where it is not paid.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String
    @Option(help: "Why, for the history and the audit.") var reason: String

    func validate() throws { try reason.requireWords() }

    func run() async throws { try await journal.change(id, to: .active, because: reason) }
  }

  struct End: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "end", abstract: "Ends an agreement for good: it can never be charged again.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the agreement, its first payment, or the merchant's reference.") var id: String
    @Option(help: "Why, for the history and the audit.") var reason: String
    @Flag(help: "Do not ask. Needed where standard input is no terminal.") var yes = false

    func validate() throws { try reason.requireWords() }

    func run() async throws {
      let id = try await journal.agreement(self.id).agreement.id.rawValue
      let (user, reason) = (NSUserName(), reason)
      try Confirmation.require("end agreement \(id) for good", isConfirmed: yes)
      try journal.show(
        await journal.ask("/agreements/\(id.inQuery)/end?by=\(user.inQuery)&reason=\(reason.inQuery)") {
          try await $0.end(id, by: CommandLineOperator(user, because: reason))
        })
    }
  }
}

extension String {
  fileprivate func requireWords() throws {
    guard !allSatisfy(\.isWhitespace) else { throw ValidationError("--reason is empty: say why.") }
  }
}

extension JournalOptions {
  fileprivate func agreement(_ name: String) async throws -> AgreementReport {
    try await store.access().ask(
      here: { try await PaymentAdministration.agreement($0, name) }, there: ("GET", "/agreements/\(name.inQuery)"))
  }

  fileprivate func change(_ id: String, to status: AgreementStatus, because reason: String) async throws {
    let user = NSUserName()
    let query = "status=\(status.rawValue.inQuery)&by=\(user.inQuery)&reason=\(reason.inQuery)"
    try show(
      await ask("/agreements/\(id.inQuery)/change?" + query) {
        try await $0.change(id, to: status, by: CommandLineOperator(user, because: reason))
      })
  }

  fileprivate func show(_ report: AgreementReport) throws {
    guard !json else { return Terminal.say(try Terminal.json(report)) }
    for (name, value) in report.fields { Terminal.say(name + String(repeating: " ", count: 15 - name.count) + value) }
    for line in report.chargeTable.lines + report.declineTable.lines + report.historyTable.lines { Terminal.say(line) }
  }
}

/// Agreements as people read them: amounts in major units with their currency.
extension AgreementReport {
  fileprivate static func table(of agreements: [AgreementReport]) -> Table {
    Table("AGREEMENT", "CREATED", "STATUS", "KIND", "AMOUNT", "NEXT", "MERCHANT", "REFERENCE", of: agreements) {
      report in
      let agreement = report.agreement
      let due = agreement.schedule == nil ? agreement.next?.due : agreement.schedule?.at
      let next = agreement.status == .ended ? nil : due
      return [
        "\(agreement.id)", agreement.createdAt.timestamp.description, agreement.status.rawValue, report.kind,
        report.money(report.price), next?.timestamp.description ?? "-", "\(report.merchant)",
        agreement.merchantReference,
      ]
    }
  }

  fileprivate var fields: [(name: String, value: String)] {
    let terms = agreement.terms
    return [
      ("agreement", "\(agreement.id)"), ("status", agreement.status.rawValue), ("merchant", "\(merchant)"),
      ("reference", agreement.merchantReference), ("customer", agreement.merchantCustomerId ?? "-"),
      ("kind", kind), ("for", terms.description), ("amount", money(price)),
      ("time zone", terms.timeZone ?? "-"), ("first payment", agreement.paymentId),
      ("merchant token", merchantToken), ("current", period(agreement.current)),
      ("next", agreement.status == .ended ? "-" : period(agreement.next)), ("schedule", schedule),
      ("prices", prices), ("retries", retries), ("card now", card), ("at Apple", unlinking),
      ("created", agreement.createdAt.timestamp.description),
    ].filter { $0.1 != "-" }
  }

  fileprivate var chargeTable: Table {
    Table("PERIOD", "DUE", "AMOUNT", "STATUS", "PAYMENT", of: agreement.charges ?? []) {
      [
        "\($0.period)", $0.due?.timestamp.description ?? "-", $0.amount.map(money) ?? "-", $0.status?.rawValue ?? "-",
        $0.paymentId ?? "-",
      ]
    }
  }

  fileprivate var declineTable: Table {
    let declines = (agreement.charges ?? []).flatMap { charge in (charge.declines ?? []).map { (charge.period, $0) } }
    return Table("PERIOD", "DECLINED", "AS", "PAYMENT", of: declines) { period, declined in
      ["\(period)", declined.at.timestamp.description, declined.reason.rawValue, declined.paymentId]
    }
  }

  /// What a charge would be, to be asked about; where none can be made, why.
  fileprivate func charge(of period: Int64?, _ amount: String?) throws -> String {
    guard agreement.status == .active else {
      throw CallFailure("agreement \(agreement.id) is \(agreement.status.rawValue): it cannot be charged")
    }
    let current = agreement.current?.number
    let number = period ?? current
    let price = amount ?? (number == current ? agreement.current.map { money($0.amount) } : nil) ?? "its price"
    let name = number.map { "period \($0)" } ?? (agreement.terms.automaticReload == nil ? "what is due" : "a reload")
    return "\(price) for \(name) to the card of agreement \(agreement.id)"
  }

  fileprivate var historyTable: Table {
    Table("CHANGED", "EVENT", "STATUS", "BY", "REASON", of: agreement.history ?? []) {
      [$0.at.timestamp.description, $0.event, $0.status.rawValue, $0.by.rawValue, $0.reason ?? "-"]
    }
  }

  private var merchantToken: String {
    guard !agreement.hasMerchantToken else { return "yes" }
    return network == CardNetwork.visa.rawValue ? "no: Visa declines later payments of a device's number" : "no"
  }

  private var schedule: String {
    guard let schedule = agreement.schedule else { return "none: each charge is made by a call" }
    return "period \(schedule.period), \(schedule.at?.timestamp.description ?? "nothing is due")"
  }

  private var prices: String {
    guard let prices = agreement.prices else { return "-" }
    return prices.map { "\(money($0.amount)) from \($0.from?.timestamp.description ?? "-")" }.joined(separator: ", ")
  }

  private var card: String {
    guard let token = agreement.merchantToken, token.describedAt != nil else { return "-" }
    return [
      token.cardName, token.cardSuffix.map { "ending \($0)" }, token.cardExpiry.map { "to \($0)" }, token.cardCountry,
    ]
    .compactMap(\.self).joined(separator: ", ")
  }

  private var unlinking: String {
    guard let token = agreement.merchantToken, let state = token.unlinking else { return "-" }
    return switch state {
    case "due": "to be unlinked" + (token.detail.map { ": \($0)" } ?? "")
    case "done": "unlinked"
    default: "not unlinked: \(token.detail ?? "refused")"
    }
  }

  private var retries: String {
    guard let retry = agreement.retry else { return "-" }
    if let reason = retry.stopped { return "none: declined as \(reason.rawValue)" }
    let next = retry.notBefore.map { ", not before \($0.timestamp)" } ?? ""
    let limits = AgreementRetries.limits.map { limit in
      let days = limit.within.components.seconds / 86_400
      return "\(limit.most) within \(days == 1 ? "a day" : "\(days) days")"
    }
    return "\(retry.declines) declined within 30 days\(next); the schemes allow \(limits.joined(separator: ", "))"
  }

  private var kind: String {
    let terms = agreement.terms
    return terms.recurring != nil ? "recurring" : terms.automaticReload != nil ? "automaticReload" : "deferred"
  }

  private func period(_ period: AgreementAnswer.Period?) -> String {
    period.map { "\($0.number), \($0.due?.timestamp.description ?? "when asked"), \(money($0.amount))" } ?? "-"
  }

  private func money(_ units: Int64) -> String { "\(Amount(minorUnits: units, currency: agreement.currencyCode))" }
}
