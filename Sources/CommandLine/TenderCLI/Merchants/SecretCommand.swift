import Administration
import ArgumentParser
import CommandSupport
import MerchantIdentity
import TenderPayments
import TenderServer

/// `tender secret`
struct SecretCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "secret",
    abstract: "API, webhook and callback keys of the merchants in the store; resealing all its secrets.",
    subcommands: [Add.self, Rotate.self, Revoke.self, List.self, Reseal.self])

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add", abstract: "Makes a key. Its secret is shown now and never again.")
    @OptionGroup var key: SecretOptions
    @Option(
      help:
        "What an API key may be used for: baskets, payments, refunds or read; repeat it for several. Default: everything."
    )
    var scope: [APIKeyScope] = []
    @Option(
      help:
        """
        When it ends: 2030-01-01, which begins at 00:00 UTC, 2030-01-01T08:00:00Z, or days from now such as 90d. \
        Default: never.
        """)
    var expires: KeyEnd?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let call = MerchantCall.addKey(
        merchant: key.merchant, kind: key.kind.secret, scopes: scope.isEmpty ? nil : Set(scope), expires: expires?.text)
      let answer = try await store.ask(call)
      try store.show(answer.keys)
      key.kind.sayWhatSigns(answer.keys, overlapHours: nil)
    }
  }

  struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate",
      abstract: "Makes a key, and ends the others that it replaces after an overlap.",
      discussion: """
        It replaces the merchant's API keys of one set of scopes, and has their scopes and their own end. API keys of other \
        scopes go on. During the overlap every API key is accepted. Of webhook and callback keys it replaces all, and the \
        newest signs at once.
        """)
    @OptionGroup var key: SecretOptions
    @Option(
      help: """
        Which API keys are replaced, by their scopes; repeat it for several. Default: those for everything or, where there \
        are none, those of the only set.
        """)
    var scope: [APIKeyScope] = []
    @Option(help: "How many hours the replaced ones go on.") var overlapHours: Int64 = 24
    @OptionGroup var store: MerchantStoreOptions

    /// A hundred years.
    private static let longestOverlap: Int64 = 876_000

    func validate() throws {
      guard (0...Self.longestOverlap).contains(overlapHours) else {
        throw ValidationError("--overlap-hours is from 0, which ends the others at once, to \(Self.longestOverlap).")
      }
    }

    func run() async throws {
      let call = MerchantCall.rotateKey(
        merchant: key.merchant, kind: key.kind.secret, overlapSeconds: overlapHours * 3_600,
        scopes: scope.isEmpty ? nil : Set(scope))
      let answer = try await store.ask(call)
      try store.show(answer.keys)
      key.kind.sayWhatSigns(answer.keys, overlapHours: overlapHours)
      if case .api = key.kind { sayWhatEnds(answer.replaced ?? []) }
    }

    private func sayWhatEnds(_ replaced: [SharedKeyReport]) {
      for key in replaced {
        Terminal.sayError(
          overlapHours == 0
            ? "\(key.id) has ended." : "\(key.id) is accepted until \(key.expires ?? "-"), and then no more.")
      }
      Terminal.sayError(
        "\(replaced.isEmpty ? "No API key was replaced. API" : "API") keys of other scopes go on as they were.")
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Removes a key at once.")
    @Argument(help: "The key's id.") var id: String
    @OptionGroup var key: SecretOptions
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      try store.show(try await store.ask(.revokeKey(merchant: key.merchant, kind: key.kind.secret, id: id)).keys)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "The keys, without their secrets.")
    @Option(help: "One merchant alone.") var merchant: String?
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let answer = try await store.ask(.listKeys(merchant: merchant))
      // The note says where the keys of a declared merchant are.
      guard store.json || answer.notes.isEmpty else { return }
      try store.show(answer.keys)
    }
  }

  struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reseal",
      abstract: "Seals every secret in the store under the first key of secrets.keyFile.",
      discussion: """
        Write the new key into the file's first line before, and remove the old line after. It may be interrupted and \
        started again.
        """)
    @Flag(help: "Change nothing, and say how many secrets are sealed under each key.") var status = false
    @OptionGroup var store: MerchantStoreOptions

    func run() async throws {
      let sealed = try await store.ask(status ? .sealing : .reseal).sealed ?? [:]
      guard !store.json else { return Terminal.say(try Terminal.json(sealed)) }
      Table("KEY", "SECRETS", of: sealed.sorted { $0.key < $1.key }) { [$0.key, "\($0.value)"] }.show("secret")
    }
  }
}

extension APIKeyScope: ExpressibleByArgument {}

/// The end of a key's life.
struct KeyEnd: ExpressibleByArgument {
  /// RFC 3339.
  let text: String

  init?(argument: String) {
    if argument.hasSuffix("d"), let days = Int64(argument.dropLast()), (1...36_500).contains(days) {
      text = WallClock.system.now().adding(.seconds(days * 86_400)).description
    } else if let moment = Moment(argument: argument) {
      text = moment.time.description
    } else {
      return nil
    }
  }
}

struct SecretOptions: ParsableArguments {
  @Option(help: "The merchant's id.") var merchant: String
  @Option(help: "api, webhook or callback.") var kind = SecretKind.api
}

enum SecretKind: String, ExpressibleByArgument, CaseIterable {
  case api, webhook, callback

  var secret: SecretName.Kind {
    switch self {
    case .api: .apiKey
    case .webhook: .webhookKey
    case .callback: .callbackKey
    }
  }

  /// Says which key counts after a new one was made.
  ///
  /// - Parameters:
  ///   - keys: the new one.
  ///   - overlapHours: how long the others go on; nil for as long as they would.
  fileprivate func sayWhatSigns(_ keys: [SharedKeyReport]?, overlapHours: Int64?) {
    guard let key = keys?.first else { return }
    let signed: String
    switch self {
    case .api: return
    case .webhook: signed = "the webhooks of \(key.merchant)"
    case .callback: signed = "the calls to the server of \(key.merchant)"
    }
    let kept = overlapHours.map { $0 == 0 ? "have ended" : "are kept for \($0) hours" } ?? "are kept"
    let revoked = overlapHours == 0 ? "" : "; the newest of them signs again if you revoke \(key.id)"
    let retried = self == .webhook ? " Webhooks that it refuses until then are sent again." : ""
    Terminal.sayError(
      "\(key.id) signs \(signed) from now on. Give its secret to the merchant's server, beside the old one."
        + "\(retried) The others sign nothing more and \(kept)\(revoked).")
  }
}

extension MerchantStoreOptions {
  fileprivate func show(_ keys: [SharedKeyReport]?) throws {
    try show(keys, "key") {
      Table("KEY", "MERCHANT", "KIND", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "SECRET", of: $0) { key in
        [
          key.id, key.merchant, key.kind.rawValue,
          key.scopes.map { $0.map(\.rawValue).joined(separator: ",") } ?? "all",
          key.created, key.expires ?? "-", key.lastUsed ?? "-", key.secret ?? "-",
        ]
      }
    }
  }
}
