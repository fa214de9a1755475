import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer

extension MerchantCommand {
  /// `tender merchant add`
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Makes a merchant in a server's store, or at a sandbox with certificates, keys and domains.",
      discussion: """
        --sandbox URL makes a test merchant at that sandbox, for the server that uses it: the one of --config or --port, \
        else the demo or server of this user that runs with it. --directory keeps it as a folder there instead. Its other values \
        follow from --domain.

        --config alone makes a merchant of the store without certificates: tender certificate request. It needs --id, \
        --merchant-identifier, --name, --country and --currency. A merchant that is there is refused, so that keys are \
        not lost.
        """)

    @OptionGroup var options: NewMerchantOptions
    @Option(help: "The folder of merchants in which to make its folder, whole or not at all.") var directory: String?
    @Flag(help: "Print a test merchant's keys as variables that the clients of docs/back-end.md read, for a file .env.")
    var env = false
    @OptionGroup var portal: PortalOptions
    @OptionGroup var store: MerchantStoreOptions

    func validate() throws {
      guard !env || (portal.sandbox != nil && directory == nil && !store.json) else {
        throw ValidationError(
          "--env prints the keys of a merchant that --sandbox makes in a server's store, and no JSON.")
      }
      guard portal.sandbox != nil || !store.place.words.isEmpty else {
        throw ValidationError(
          "Say where: --sandbox URL with --domain HOST for a test merchant, or --config FILE for one in its store.")
      }
      guard directory == nil || store.place.words.isEmpty else {
        throw ValidationError("Give --directory or --config, not both: a merchant is in a folder or in the store.")
      }
      guard directory == nil || portal.sandbox != nil else {
        throw ValidationError("--directory needs the --sandbox whose certificates the folder gets.")
      }
    }

    func run() async throws {
      let merchant = try options.merchant(isTest: portal.sandbox != nil)
      do { try merchant.check() } catch { throw MistakenCall("\(error)") }
      guard portal.sandbox != nil else { return try await addWithoutCertificates(merchant) }
      guard let directory else { return try await addToServer(merchant) }
      try await addFolder(merchant, directory)
    }

    private func addFolder(_ merchant: MerchantProvisioning.NewMerchant, _ directory: String) async throws {
      let path = try await FolderOwner.asOwner(besides: directory + "/\(merchant.id)") {
        try await portal.withPortal {
          try await MerchantProvisioning(portal: $0, random: .system).add(merchant, below: directory)
        }
      }
      guard !store.json else { return Terminal.say(try Terminal.json(["id": merchant.id, "folder": path])) }
      Terminal.say(path)
      let verify = "tender merchant verify --id \(merchant.id) --directory \(Shell.quoted(directory)) --sandbox "
      Terminal.sayError(
        "Next: start `tender serve` with merchants.directory \(directory), or `tender reload --config FILE` if it runs; "
          + "when the shop is up, run `\(verify)\(try portal.address)`")
    }

    private func addWithoutCertificates(_ merchant: MerchantProvisioning.NewMerchant) async throws {
      let bundle = try MerchantBundle(merchant, random: .system)
      try store.show(try await store.ask(.add(bundle)).merchants)
      let next = CertificateKind.allCases.map {
        "`tender certificate request \(merchant.id) --kind \($0.rawValue)\(store.place.words)`"
      }
      let rotate = "`tender secret rotate --merchant \(merchant.id) --kind KIND --overlap-hours 0\(store.place.words)`"
      Terminal.sayError(
        """
        Next: \(next.joined(separator: " and "))
        It has an api, a webhook and a callback key, whose secrets nobody has seen. \(rotate)
        replaces one and shows its secret; `tender secret list --merchant \(merchant.id)\(store.place.words)` has their ids.
        """)
    }

    /// Into the store of the server that uses the sandbox.
    private func addToServer(_ merchant: MerchantProvisioning.NewMerchant) async throws {
      let server = try await SandboxServerStore(portal.address, store)
      for other in try await server.ask(.list).merchants ?? [] {
        guard other.id != merchant.id else {
          throw CallFailure("there is a merchant \(other.id) already; take another --id")
        }
        for domain in merchant.domains where other.domains.contains(domain) {
          throw CallFailure("\(domain) belongs to the merchant \(other.id); a domain has one merchant")
        }
      }
      let bundle = try await provision(merchant)
      _ = try await server.ask(.add(bundle))
      let text = NewMerchantText(merchant: merchant, bundle: bundle, server: server)
      try text.show(env ? .variables : store.json ? .json : .lines)
    }

    /// Makes the merchant at the sandbox, by way of a folder of this process alone.
    private func provision(_ merchant: MerchantProvisioning.NewMerchant) async throws -> MerchantBundle {
      let directory = "\(FileManager.default.temporaryDirectory.path)/tender-\(RandomBytes.system.hex(8))"
      try PrivateFile.makeFolder(directory)
      defer { try? FileManager.default.removeItem(atPath: directory) }
      let path = try await portal.withPortal {
        try await MerchantProvisioning(portal: $0, random: .system).add(merchant, below: directory)
      }
      return try await MerchantBundle(folder: path, at: WallClock.system.now(), keysMayBeElsewhere: false)
    }
  }
}

struct NewMerchantOptions: ParsableArguments {
  @Option(help: "Tender's name for the merchant: 1 to 40 letters, digits and hyphens.") var id: String?
  @Option(help: "Apple's name for the merchant.") var merchantIdentifier: String?
  @Option(help: "The name on the sheet.") var name: String?
  @Option(help: "ISO 3166-1, two letters; IE by default for a test merchant.") var country: String?
  @Option(help: "ISO 4217, three letters; EUR by default for a test merchant.") var currency: String?
  @Option(help: "A domain that shows the button, with its port on this machine; may be given more than once.")
  var domain: [String] = []

  /// - Parameter isTest: whether what is not named follows from the first domain.
  /// - Throws: what else must be named, all at once.
  func merchant(isTest: Bool) throws -> MerchantProvisioning.NewMerchant {
    let host = isTest ? domain.first.map { (try? Domain(typed: $0))?.name ?? $0 } : nil
    let id = id ?? host.map(Self.folderName)
    let values = [
      ("--domain", isTest ? domain.first : ""), ("--id", id),
      ("--merchant-identifier", merchantIdentifier ?? (isTest ? id.map { "merchant.test.\($0)" } : nil)),
      ("--name", name ?? host), ("--country", country ?? (isTest ? "IE" : nil)),
      ("--currency", currency ?? (isTest ? "EUR" : nil)),
    ]
    let missing = isTest && domain.isEmpty ? ["--domain"] : values.filter { $0.1 == nil }.map(\.0)
    guard missing.isEmpty else { throw MistakenCall("name also \(missing.joined(separator: ", "))") }
    let texts = values.compactMap(\.1)
    return .init(
      id: texts[1], merchantIdentifier: texts[2], displayName: texts[3], countryCode: texts[4],
      currencyCode: texts[5], domains: domain)
  }

  /// `shop-localhost-3000` for `shop.localhost:3000`.
  static func folderName(_ host: String) -> String {
    String(host.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "-" }.prefix(40))
  }
}

/// The developer portal, which is a part of the sandbox.
struct PortalOptions: ParsableArguments {
  @Option(help: "The sandbox's address, such as http://localhost:8402.") var sandbox: String?

  var address: String {
    get throws {
      guard let sandbox else {
        throw MistakenCall("name the --sandbox; `tender-sandbox demo` and `tender-sandbox sandbox` print its address")
      }
      return sandbox
    }
  }

  func withPortal<R>(_ body: (JSONClient) async throws -> R) async throws -> R {
    let address = try address
    return try await LiveHTTPClient.during { try await body(JSONClient(address, sender: $0)) }
  }
}

/// The merchants of the server that uses a sandbox.
private struct SandboxServerStore {
  let sandbox: String
  /// How browsers and the merchant's server reach it.
  let address: String
  /// The server that runs with the sandbox; nil where the call names a store.
  private let access: StoreAccess?
  private let options: MerchantStoreOptions

  /// The words of a command that name the store.
  var words: String {
    let named = options.place.words
    guard named.isEmpty, let port = URLComponents(string: address)?.port else { return named }
    return " --port \(port)"
  }

  init(_ sandbox: String, _ options: MerchantStoreOptions) async throws {
    (self.sandbox, self.options) = (Self.plain(sandbox), options)
    let place = options.place
    guard place.config != nil || place.store != nil else {
      let stores = try place.port.map { [try StoreOptions.running(at: $0)] } ?? RunningServers().stores
      (address, access) = try await Self.running(among: stores, with: self.sandbox)
      return
    }
    let configuration = try await place.configuration()
    guard let own = configuration.sandboxURL, Self.plain(own) == self.sandbox else {
      let words = configuration.sandboxURL.map { "uses the sandbox \($0)" } ?? "is not for the simulated environment"
      throw MistakenCall(
        "\(place.config ?? "the configuration") \(words), and not \(sandbox): a sandbox's merchant belongs to a server "
          + "that uses it")
    }
    (address, access) = (configuration.publicURL, nil)
  }

  func ask(_ call: MerchantCall) async throws -> MerchantAnswer {
    guard let access else { return try await options.ask(call) }
    let answer = try await Self.ask(access, call)
    for note in answer.notes { Terminal.sayError("Warning: \(note)") }
    return answer
  }

  private static func ask(_ access: StoreAccess, _ call: MerchantCall) async throws -> MerchantAnswer {
    try await access.askServer("POST", StoreAccess.merchantCalls, Array(try JSONEncoder().encode(call)))
  }

  /// The server that was started with the sandbox.
  private static func running(
    among stores: [String], with sandbox: String
  ) async throws -> (address: String, access: StoreAccess) {
    for store in stores {
      let access = StoreAccess(store: store)
      guard let answer = try? await ask(access, .showServer), answer.server?.sandboxURL.map(plain) == sandbox else {
        continue
      }
      return (answer.server?.publicURL ?? "", access)
    }
    throw CallFailure(
      "no server of this user that runs here uses the sandbox \(sandbox); name its configuration with --config, or the "
        + "merchants' folder with --directory")
  }

  private static func plain(_ address: String) -> String {
    (address.hasSuffix("/") ? String(address.dropLast()) : address).lowercased()
      .replacingOccurrences(of: "//127.0.0.1", with: "//localhost")
  }
}

/// A merchant that a server takes from now on, with its keys, and what is left to do.
private struct NewMerchantText {
  let merchant: MerchantProvisioning.NewMerchant
  let bundle: MerchantBundle
  let server: SandboxServerStore

  enum Form { case lines, json, variables }

  func show(_ form: Form) throws {
    let lines = [
      ("id", merchant.id), ("merchantIdentifier", merchant.merchantIdentifier), ("server", server.address),
      ("domains", merchant.domains.joined(separator: " ")), ("apiKeyId", key(.apiKey)?.id ?? ""),
      ("secretApiKey", key(.apiKey)?.secret ?? ""), ("webhookKeyId", key(.webhookKey)?.id ?? ""),
      ("webhookSecret", key(.webhookKey)?.secret ?? ""),
    ]
    switch form {
    case .json: return Terminal.say(try Terminal.json(Dictionary(uniqueKeysWithValues: lines)))
    case .lines:
      for (name, value) in lines { Terminal.say(name.padding(toLength: 19, withPad: " ", startingAt: 0) + value) }
    case .variables:
      let values = Dictionary(uniqueKeysWithValues: lines)
      for (variable, name) in Self.variables { Terminal.say("\(variable)=\(values[name] ?? "")") }
    }
    let domains = merchant.domains.map { " --domain \($0)" }.joined()
    Terminal.sayError(
      """
      The secrets are shown now and never again. Next, as docs/own-shop.md shows:
        1. Your server sends a basket: PUT \(server.address)/v2/\(merchant.id)/baskets/…, signed with the API key.
        2. Your page loads \(server.address)/applepay/tender.js and has <tender-apple-pay basket="…">; the components for
           React and Vue do both.
        3. Your site passes \(DomainAssociation.paths.joined(separator: " and ")) on to
           \(server.address) with the Host header unchanged. Then run:
           tender merchant verify --merchant-identifier \(merchant.merchantIdentifier)\(domains) --sandbox \(server.sandbox)
        4. Your server hears of payments at an address that it names:
           tender merchant edit \(merchant.id) webhooks=shop=http://\(merchant.domains.first ?? "…")/hooks\(server.words)
      """)
  }

  /// What the clients in docs/back-end.md read, and the line that has it.
  private static let variables = [
    ("SHOP_TENDER_URL", "server"), ("SHOP_MERCHANT", "id"), ("SHOP_KEY_ID", "apiKeyId"),
    ("SHOP_SECRET", "secretApiKey"), ("SHOP_WEBHOOK_SECRET", "webhookSecret"),
  ]

  private func key(_ kind: SecretName.Kind) -> MerchantBundle.SecretEntry? { bundle.secrets.first { $0.kind == kind } }
}
