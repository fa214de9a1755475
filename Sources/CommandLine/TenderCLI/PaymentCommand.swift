import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Ledger
import Storage
import TenderPayments
import TenderServer

/// `tender payment`
struct PaymentCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "payment", abstract: "Looks at payments; captures, voids, refunds and increments them.",
    subcommands: [
      List.self, Show.self, Capture.self, Void.self, Refund.self, Increment.self, Inquire.self, Acknowledge.self,
      Resolve.self, VerifyJournal.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Payments, the newest first. Every condition must hold.")
    @OptionGroup var journal: JournalOptions
    @OptionGroup var conditions: LookupOptions

    func run() async throws {
      let lookup = conditions.lookup
      let found = try await journal.store.access().ask(
        here: { try await PaymentAdministration.list($0, lookup) }, there: ("POST", "/payments/search"),
        body: Array(try JSONEncoder().encode(lookup)))
      if found.payments.isEmpty, let merchant = conditions.merchant { try await requireKnown(merchant) }
      let shown = Array(found.payments.prefix(conditions.limit ?? LookupOptions.shown))
      if journal.json {
        Terminal.say(try Terminal.json(shown))
      } else {
        PaymentReport.table(of: shown).show("payment")
      }
      if shown.count < found.payments.count {
        Terminal.sayError("\(shown.count) shown, and there are more: --limit shows up to 500")
      }
    }

    /// A merchant that was removed has payments still, and of one that is misspelt there are none.
    private func requireKnown(_ merchant: String) async throws {
      let place = journal.store
      // A store that is named alone says nothing of folders.
      guard place.store == nil || place.config != nil else { return }
      let answer = try? await place.ask(
        here: { try await MerchantAdministration($0, $1.database).perform(.list) },
        there: ("POST", StoreAccess.merchantCalls), body: Array(try JSONEncoder().encode(MerchantCall.list)))
      guard let known = answer?.merchants?.map(\.id), !known.contains(merchant) else { return }
      throw CallFailure("there is no merchant \(merchant); there are: \(known.joined(separator: ", "))")
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "One payment, with every operation at the acquirer.")
    @OptionGroup var journal: JournalOptions
    @Argument(help: "The id of the payment, its order or its basket, or the merchant's reference.") var id: String

    /// A reference may have several payments: all of them are shown, as JSON in an array.
    func run() async throws {
      let found = try await journal.payments(id)
      guard journal.json, found.count > 1 else { return try found.forEach(journal.show) }
      Terminal.say(try Terminal.json(found))
    }
  }

  struct Capture: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "capture", abstract: "Captures held money.")
    @OptionGroup var operation: OperationOptions
    @OptionGroup var movement: MovementOptions
    @Flag(help: "The last capture: the rest of the hold is released.") var final = false

    func run() async throws { try await operation.perform(.capture, movement.movement, isFinal: final) }
  }

  struct Void: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "void", abstract: "Releases held money.")
    @OptionGroup var operation: OperationOptions
    @OptionGroup var movement: MovementOptions

    func run() async throws { try await operation.perform(.void, movement.movement) }
  }

  struct Refund: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "refund", abstract: "Refunds captured money.")
    @OptionGroup var operation: OperationOptions
    @OptionGroup var movement: MovementOptions

    func run() async throws { try await operation.perform(.refund, movement.movement) }
  }

  struct Increment: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "increment",
      abstract: "Raises what is held, before a capture, where the route can.")
    @OptionGroup var operation: OperationOptions
    @OptionGroup var movement: IncrementOptions

    func run() async throws { try await operation.perform(.increment, movement.movement) }
  }

  struct Inquire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "inquire", abstract: "Asks the acquirer for the outcome of open operations.")
    @OptionGroup var operation: OperationOptions

    func run() async throws { try await operation.perform(.inquire) }
  }

  struct Acknowledge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "acknowledge", abstract: "Ends a payment's alarm after a look at it.")
    @OptionGroup var operation: OperationOptions

    func run() async throws {
      let payment = try await operation.journal.payment(operation.id)
      guard payment.alarm == nil else { return try await operation.perform(.acknowledge) }
      Terminal.sayError("\(payment.id) has no alarm: there is nothing to acknowledge")
    }
  }

  struct Resolve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resolve",
      abstract: "Records an operator's finding about a payment or an operation.",
      discussion: "Ask the acquirer first. The decision and its note are written into the audit chain.")
    @OptionGroup var operation: OperationOptions
    @Option(
      name: .customLong("as"),
      help:
        """
        voided: the money was released. failed: it was never held, or the operation was not done. approved: the acquirer \
        did the operation.
        """
    )
    var resolution: ResolutionName
    @Option(
      name: .customLong("operation"),
      help: "The reference of a capture, void or refund; needed with --as approved.")
    var approved: String?
    @Option(help: "What the decision rests on.") var note: String

    enum ResolutionName: String, ExpressibleByArgument, CaseIterable { case voided, failed, approved }

    func run() async throws {
      let (id, user, note) = (try await operation.journal.payment(operation.id).id, NSUserName(), note)
      let resolution = Resolution(rawValue: resolution.rawValue) ?? .voided
      let reference = approved.map { AttemptReference($0) }
      let query =
        "as=\(resolution.rawValue.inQuery)&note=\(note.inQuery)&by=\(user.inQuery)"
        + (reference.map { "&operation=\($0.rawValue.inQuery)" } ?? "")
      try await operation.ask(id, "resolve?" + query) {
        try await $0.resolve(id, as: resolution, operation: reference, by: CommandLineOperator(user, because: note))
      }
    }
  }

  struct VerifyJournal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify-journal",
      abstract: "Reads the audit chain from its beginning, and compares it with the payments.")
    @OptionGroup var journal: JournalOptions

    func run() async throws {
      let report = try await journal.store.access().ask(
        here: { try await $0.verifyAudit() },
        there: ("GET", "/journal/verification"))
      if journal.json { Terminal.say(try Terminal.json(report)) } else { say(report) }
      guard report.isIntact else { throw ExitCode(1) }
    }

    private func say(_ report: AuditReport) {
      for violation in report.violations { Terminal.say(violation) }
      let verdict = report.isIntact ? "intact" : "broken"
      Terminal.say("\(verdict): \(report.entries) entries of \(report.payments) payments")
      for (chain, head) in report.heads.sorted(by: { $0.key < $1.key }) { Terminal.say("head of \(chain): \(head)") }
    }
  }
}

/// The journal: through the server that holds it, or from the file when none runs.
struct JournalOptions: ParsableArguments {
  @OptionGroup var store: StoreOptions
  @Flag(help: "Print JSON.") var json = false

  /// The payments that a name may mean, at least one.
  ///
  /// - Parameter name: the id of a payment, an order or a basket, or the merchant's reference of an order.
  func payments(_ name: String) async throws -> [PaymentReport] {
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw MistakenCall(
        "the name is empty: give the id of a payment, an order or a basket, or the merchant's reference")
    }
    let found = try await store.access().ask(
      here: { try await PaymentAdministration.find($0, name) }, there: ("GET", "/payments?named=\(name.inQuery)")
    ).payments
    guard !found.isEmpty else {
      throw CallFailure("there is no payment, order, basket or merchant's reference \(name)")
    }
    return found
  }

  /// The one payment of this name.
  func payment(_ name: String) async throws -> PaymentReport {
    let found = try await payments(name)
    guard let payment = found.first, found.count == 1 else {
      throw CallFailure("\(name) has \(found.count) payments: \(found.map { "\($0.id)" }.joined(separator: ", "))")
    }
    return payment
  }

  /// Has the server do it; while none runs, does it here, with the acquirers that the configuration names.
  ///
  /// - Parameter there: a path of the server's admin socket.
  func ask<Report: Codable & Sendable>(
    _ there: String, here: @escaping @Sendable (PaymentAdministration) async throws -> Report
  ) async throws -> Report {
    let config = store.config
    return try await store.access().ask(
      here: { journal in
        let administration = try await PaymentAdministration(journal, try await ConfigurationOptions.load(file: config))
        do {
          let report = try await here(administration)
          await administration.close()
          return report
        } catch {
          await administration.close()
          throw error
        }
      }, there: ("POST", there))
  }

  func show(_ payment: PaymentReport) throws {
    if json { Terminal.say(try Terminal.json(payment)) } else { payment.show() }
  }
}

/// What an increment takes: an amount that must be given.
struct IncrementOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "By how much, for example 10.00.") var amount: String
  @OptionGroup var consent: ConsentOptions

  var movement: Movement { Movement(amount: amount, consent: consent) }
}

/// What a capture, a void and a refund take.
struct MovementOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: "For example 10.00; all that is left by default.") var amount: String?
  @OptionGroup var consent: ConsentOptions

  var movement: Movement { Movement(amount: amount, consent: consent) }
}

/// An amount, or all that is left, and that it is meant.
struct Movement {
  let amount: String?
  let consent: ConsentOptions
}

/// That money is to be moved, and once.
struct ConsentOptions: ParsableArguments {
  @Option(help: "An idempotency key: the same command with the same key moves money once. One is made by default.")
  var key: String?
  @Option(help: "Why, for the back office's audit.") var reason: String?
  @Flag(help: "Do not ask. Needed where standard input is no terminal.") var yes = false

  func validate() throws {
    guard reason?.allSatisfy(\.isWhitespace) != true else { throw ValidationError("--reason is empty: say why.") }
  }

  /// The key. One that is made is printed before anything is asked, so that a command whose answer is lost can be
  /// repeated with it.
  func announcedKey() -> String {
    if let key { return key }
    let key = RandomBytes.system.hex(16)
    Terminal.sayError("idempotency key: repeat with --key \(key) if the answer is lost")
    return key
  }
}

/// An operation by hand. While no server runs, the acquirer is the one that the configuration names.
///
/// Exit code 0 says that the acquirer did it or has taken it on, 1 that it refused or that the outcome is unknown.
struct OperationOptions: ParsableArguments {
  @OptionGroup var journal: JournalOptions
  @Argument(help: "The id of the payment, its order or its basket, or the merchant's reference.") var id: String

  func perform(_ operation: PaymentAdministration.Operation) async throws {
    let (id, user) = (try await journal.payment(id).id, NSUserName())
    try await ask(id, "\(operation.rawValue)?by=\(user.inQuery)") {
      try await $0.perform(
        operation, on: id, amount: nil, isFinal: false, key: nil, by: CommandLineOperator(user, because: ""))
    }
  }

  func perform(
    _ operation: PaymentAdministration.Operation, _ movement: Movement, isFinal: Bool = false
  ) async throws {
    let payment = try await journal.payment(id)
    let confirmation = MoneyConfirmation(operation: operation, payment: payment, amount: movement.amount)
    try confirmation.require(isConfirmed: movement.consent.yes)
    let (id, amount, key) = (payment.id, movement.amount, movement.consent.announcedKey())
    let (user, reason) = (NSUserName(), movement.consent.reason ?? "")
    let query = [
      amount.map { "amount=\($0.inQuery)" }, isFinal ? "final=true" : nil, "key=\(key.inQuery)", "by=\(user.inQuery)",
      "reason=\(reason.inQuery)",
    ]
    let before = Set((payment.operations ?? []).map(\.reference))
    try await ask(id, "\(operation.rawValue)?" + query.compactMap { $0 }.joined(separator: "&"), before) {
      try await $0.perform(
        operation, on: id, amount: amount, isFinal: isFinal, key: key,
        by: CommandLineOperator(user, because: reason))
    }
  }

  /// - Parameters:
  ///   - there: the same on a running server's admin socket, below the payment.
  ///   - before: the operations that the payment had before.
  func ask(
    _ id: PaymentID, _ there: String, _ before: Set<AttemptReference> = [],
    here: @escaping @Sendable (PaymentAdministration) async throws -> PaymentReport
  ) async throws {
    let payment = try await journal.ask("/payments/\(id.inPath)/" + there, here: here)
    let performed = payment.performed ?? []
    for operation in performed where !journal.json {
      let isRepeat = before.contains(operation.reference)
      Terminal.say(
        "\(operation.kind.rawValue) of \(payment.money(operation.amount)): \(operation.state.rawValue)"
          + (isRepeat ? ", as it was done under this key before; nothing is moved now" : ""))
    }
    try journal.show(payment)
    if let errorText = performed.errorText { throw CallFailure(errorText) }
  }
}

extension [OperationReport] {
  /// Why a part of what was asked for may not have been done; nil when all of it was done, or will be.
  fileprivate var errorText: String? {
    // The one that must not be repeated comes before those that nothing came of.
    let texts = (filter(\.state.isOpen) + filter { !$0.state.isOpen }).compactMap(\.errorText)
    guard count > 1, let first = texts.first else { return texts.first }
    return "\(count - texts.count) of \(count) parts were done or taken on; of the others, \(first)"
  }
}

extension OperationReport {
  /// Why the operation may not have been done; nil when it was done, or will be.
  fileprivate var errorText: String? {
    switch state {
    case .approved, .pending: nil
    case .declined, .reversed, .returned: "the acquirer refused the \(kind.rawValue)\(code.map { " (\($0))" } ?? "")"
    case .failed: "the \(kind.rawValue) did not reach the acquirer, and nothing was moved"
    case .sending, .unknown:
      "it is not known yet whether the \(kind.rawValue) was done; do not repeat it: tender payment inquire asks the acquirer"
    }
  }
}

extension PaymentID {
  fileprivate var inPath: String { rawValue.inQuery }
}
