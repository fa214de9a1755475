import Acquiring
import Gateway
import TenderPayments

extension SettingsTable where Target == ServerConfiguration {
  /// The settings of `tender serve`. A new one is a row here and a property of ``ServerConfiguration``.
  package static let server = SettingsTable(
    ServerConfiguration(),
    placing + apple + acquirer + payments + retention + quotas + connections + proxies + drain + metrics + telemetry
      + office + openID + webhooks + mail + outbound + keys + tls,
    renamed: ["payments.tellsUnknownAs": "payments.reportUnknownAs"])

  /// Where the server listens and what it keeps. A row may set what later rows default to, so their order matters.
  private static let placing: [Setting<ServerConfiguration>] = [
    Setting(
      "environment", .choice(of: TenderPayments.Environment.allCases),
      "Which Apple and which acquirers the server talks to. Must be named when `host` is not this machine.",
      get: { $0.environment }, set: { $0.enter($1) }),
    Setting(
      "host", .host, \.host,
      "The address to listen on; `0.0.0.0` for all of the machine's."),
    Setting(
      "port", .number(0...65_535, "0 takes a free one"), "The port to listen on.", get: { $0.port },
      set: {
        ($0.port, $0.publicURL) = ($1, "http://localhost:\($1)")
        $0.hostedCheckoutURL = $0.publicURL
      }),
    Setting(
      "publicURL", .address, "How browsers reach this server; https outside `simulated`. The default follows `port`.",
      get: { $0.publicURL }, set: { ($0.publicURL, $0.hostedCheckoutURL) = ($1, $1) }),
    Setting(
      "hostedCheckout.url", .address, \.hostedCheckoutURL,
      "How browsers reach the hosted payment pages, see docs/hosted-checkout.md. The default follows `publicURL`."),
    Setting(
      "directory", .folder, "Where everything lives that has no path of its own.", get: { $0.directory },
      set: { $0.keepEverything(below: $1) }),
    Setting(
      "store.path", .file, \.storePath,
      "The database, an SQLite file, where `store.url` names none. The default follows `directory`."),
    Setting(
      "store.url", .databaseAddress,
      "The database on PostgreSQL, which any number of servers share, see docs/postgres.md.",
      get: { $0.storeURL }, set: { $0.storeURL = $1 }),
    Setting(
      "store.passwordFile", .file, \.storePasswordFile,
      "A file with the password of `store.url`, read at every connect."),
    Setting(
      "store.connections", .number(1...200), \.storeConnections,
      "How many connections to PostgreSQL this server keeps."),
    Setting(
      "administration.socket", .text("the path of a socket", as: "/run/tender/tender.sock"), \.adminSocket,
      "Where the command line reaches this server. The default is the path of the store with `.sock` after it, and `tender.sock` in `directory` where the store is on PostgreSQL."
    ),
    Setting(
      "merchants.directory", .folder, \.merchantsDirectory,
      "The folder that has a folder for each merchant. The default follows `directory`."),
    Setting(
      "connectors.directory", .folder, \.connectorsDirectory,
      "The folder that has a folder for each route to a payment provider. The default follows `directory`."),
    Setting(
      "guestTokens.keyFile", .file, \.guestTokenKeyFile,
      "The P-256 key that signs guest tokens; made when it is missing. The default follows `directory`."),
    Setting(
      "secrets.keyFile", .file, \.storeKeyFile,
      "The keys that seal the secrets in the store, one a line, the first seals; made with the first secret. Keep it apart from the store's backups. The default follows `directory`."
    ),
    Setting(
      "secrets.key", .secret, "The same keys, in place of the file.", get: { $0.storeKey }, set: { $0.storeKey = $1 }),
    Setting(
      "secrets.keyCommand", .command, \.storeKeyCommand,
      "A program that prints the same keys within ten seconds, in place of the file."),
    Setting(
      "contacts.keyFile", .file, \.contactKeyFile,
      "The keys that seal shoppers' contacts in the store, see docs/privacy.md; made at the first start, and written anew when somebody is erased. Every node needs it; no backup of the store may hold it. The default follows `directory`."
    ),
    Setting(
      "contacts.keyCopy", .file, \.contactKeyCopy,
      "Where the same file is kept once more, on another disk. Without the file and its copy every contact is lost."),
  ]

  private static let apple: [Setting<ServerConfiguration>] = [
    Setting(
      "sandboxURL", .address, "The simulated Apple and bank. Only in `simulated`.", get: { $0.sandboxURL },
      set: { ($0.sandboxURL, $0.acquirer.baseURL) = ($1, $1) }),
    Setting(
      "traces", .flag, \.keepsTraces,
      "Whether the steps of the newest 200 payments are kept in memory, for the demo's page and the back office. Only in `simulated`."
    ),
  ]

  private static let acquirer: [Setting<ServerConfiguration>] = [
    Setting(
      "acquirer.connector", .name(among: ["sandbox", "sandbox-provider"]), \.acquirer.connector,
      "Which acquirer takes the payments."),
    Setting(
      "acquirer.account",
      .text("a name of 1 to 40 letters, digits and hyphens", as: "eu-main", where: AcquirerCapabilities.isAccountName),
      \.acquirer.account,
      "Your name of the account there, when there is or was more than one. Another name is another acquirer."),
    Setting(
      "acquirer.baseURL", .address, \.acquirer.baseURL,
      "The acquirer's address. In `simulated` the default follows `sandboxURL`."),
    Setting(
      "acquirer.apiKey", .secret, "The acquirer's key. In `simulated` the sandbox is asked for it.",
      get: { $0.acquirer.apiKey.isEmpty ? nil : $0.acquirer.apiKey }, set: { $0.acquirer.apiKey = $1 }),
    Setting(
      "acquirer.apiKeyFile", .secretFile, "A file with the acquirer's key, read again by `tender reload`.",
      get: { _ in nil }, set: { ($0.acquirer.apiKey, $0.acquirer.apiKeyFile) = ($1.secret, $1.path) }),
  ]

  private static let payments: [Setting<ServerConfiguration>] = [
    Setting(
      "payments.reportUnknownAs", .choice(of: [ReportedOutcome.pending, .failure]), \.gatewayPolicy.reportUnknownAs,
      "What the page shows the shopper while the outcome of a payment is unknown; see docs/ledger.md."),
    Setting(
      "payments.maximumInFlight", .number(1...(.max)), \.gatewayPolicy.maximumInFlight,
      "How many payments may be under way; the next is answered 503 `overloaded`, with `Retry-After`."),
  ]

  /// What is older goes, see docs/privacy.md.
  private static let retention: [Setting<ServerConfiguration>] = [
    Setting(
      "retention.contactDays", .number(1...36_500), \.retention.contactDays,
      "After how many days an order says no more whose it was: name, address, e-mail, phone, customer, note. Without it, never."
    ),
    Setting(
      "retention.mailDays", .number(1...36_500), \.retention.mailDays,
      "For how many days a message is kept that was sent or given up."),
    Setting(
      "retention.deliveryDays", .number(7...36_500), \.retention.deliveryDays,
      "For how many days the record of a webhook is kept that was acknowledged or given up. The events stay."),
    Setting(
      "retention.basketDays", .number(RetentionLimits.leastDays...36_500), \.retention.basketDays,
      "For how many days after its end a basket or hosted checkout is kept of which no order was made."),
    Setting(
      "retention.tokenDays", .number(RetentionLimits.leastDays...36_500), \.retention.tokenDays,
      "For how many days the fingerprints of a payment token are kept; a token that old is refused in any case. Without it, for good."
    ),
  ]

  private static let quotas: [Setting<ServerConfiguration>] = [
    Setting(
      "quotas.perKey", .number(0...1_000_000, "0 for as many as come"), \.callsPerKey,
      "How many calls of the platform API an API key may make in a second, at each server; the next is answered 429, with `Retry-After`."
    ),
    Setting(
      "quotas.perMerchant", .number(0...1_000_000, "0 for as many as come"), \.callsPerMerchant,
      "The same for all keys of a merchant together."),
  ]

  private static let connections: [Setting<ServerConfiguration>] = [
    Setting(
      "connections.maximum", .number(8...(.max)), \.maximumConnections,
      "How many connections may be open. The default follows the limit of open files, and is at most 10,000."),
    Setting(
      "connections.headerSeconds", .number(1...3_600), \.connectionTimes.headerSeconds,
      "How long the TLS handshake and the headers of a connection's first request may take."),
    Setting(
      "connections.bodySeconds", .number(1...3_600), \.connectionTimes.bodySeconds,
      "How long the body of a request may take."),
    Setting(
      "connections.idleSeconds", .number(1...3_600), \.connectionTimes.idleSeconds,
      "How long a connection stays open without a new request. A proxy in front should close its own earlier."),
  ]

  private static let proxies: [Setting<ServerConfiguration>] = [
    Setting(
      "trustedProxies", .list(of: .networkRange),
      "The proxies in front whose `proxyHeader` is believed, see docs/network.md; without any, nobody's.",
      get: { $0.trustedProxies.ranges }, set: { $0.trustedProxies.ranges = $1 }),
    Setting(
      "proxyHeader", .choice(of: TrustedProxies.Header.allCases), \.trustedProxies.header,
      "The header in which the `trustedProxies` write the caller's address. The other one is never read."),
  ]

  private static let drain: [Setting<ServerConfiguration>] = [
    Setting(
      "drain.seconds", .number(0...600), \.drainSeconds,
      "For how long the server accepts connections after `/readyz` is answered 503, when it is told to end. The default is 2 outside `simulated`; see docs/reliability.md."
    )
  ]

  private static let metrics: [Setting<ServerConfiguration>] = [
    Setting(
      "metrics.port", .number(1...65_535), \.metricsPort,
      "A port for `GET /metrics`, without authentication. It is on the admin socket in any case."),
    Setting(
      "metrics.host", .host, \.metricsHost,
      "The address on which that port listens."),
  ]

  private static let office: [Setting<ServerConfiguration>] = [
    Setting(
      "backOffice.port", .number(1...65_535), \.office.port,
      "A port for the operators' pages; see docs/back-office.md. Without it there are none."),
    Setting(
      "backOffice.host", .host, \.office.host, "The address on which that port listens."),
    Setting(
      "backOffice.url", .address, \.office.url,
      "How browsers reach the pages, https outside `simulated`. The default is this machine and the port."),
    Setting(
      "backOffice.idleMinutes", .number(1...480), \.office.idleMinutes,
      "After how many minutes without a request an operator is signed out."),
    Setting(
      "backOffice.sessionHours", .number(1...24), \.office.sessionHours,
      "After how many hours an operator is signed out in any case."),
    Setting(
      "backOffice.erasuresNeedTwo", .flag, \.office.erasuresNeedTwo,
      "Whether a second administrator has to approve it when a person's data is erased on the pages."),
  ]

  private static let webhooks: [Setting<ServerConfiguration>] = [
    Setting(
      "webhooks.allowPrivateAddresses", .flag, \.allowsPrivateWebhooks,
      "Whether addresses that merchants name may be private, and plain http: of webhooks, `quoteURL`, `basketSource`, "
        + "icons and domains."),
    Setting(
      "webhooks.concurrency", .number(1...256), \.webhookConcurrency,
      "How many webhooks are sent to one endpoint at the same time."),
  ]

  private static let keys: [Setting<ServerConfiguration>] = [
    Setting(
      "keyAgent.socket", .text("the path of a socket", as: "/run/tender/keys.sock"), \.keyAgentSocket,
      "The socket of `tender key-agent`, when it holds the private keys."),
    Setting(
      "platform.directory", .folder, \.platformDirectory,
      "The platform's certificates and keys, for merchants with `encryptTo: platform`."),
  ]

  private static let tls: [Setting<ServerConfiguration>] = [
    Setting(
      "tls.certificateFile", .file, "The certificate chain in PEM, to serve TLS here instead of in a proxy.",
      get: { $0.tls?.certificateFile },
      set: { $0.tls = .init(certificateFile: $1, keyFile: $0.tls?.keyFile ?? "") }),
    Setting(
      "tls.keyFile", .file, "The certificate's private key in PEM.", get: { $0.tls?.keyFile },
      set: { $0.tls = .init(certificateFile: $0.tls?.certificateFile ?? "", keyFile: $1) }),
  ]
}
