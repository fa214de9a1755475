import Foundation
import Gateway
import KeyAgent
package import Logging

/// How many files and connections this process may have open.
package enum FileDescriptors {
  /// The limit that holds now (`RLIMIT_NOFILE`, soft).
  package static var limit: Int {
    var limits = rlimit()
    guard getrlimit(Self.resource, &limits) == 0 else { return 1_024 }
    return Int(clamping: limits.rlim_cur)
  }

  /// Raises the soft limit to the hard one. Where that is not allowed, the limit stays.
  package static func raiseLimit() {
    var limits = rlimit()
    guard getrlimit(Self.resource, &limits) == 0 else { return }
    limits.rlim_cur = limits.rlim_max
    setrlimit(Self.resource, &limits)
  }

  #if canImport(Glibc)
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
  #else
    private static let resource = RLIMIT_NOFILE
  #endif
}

/// How the file descriptors of a server are shared out. Every listener, every kind of call to others and the process
/// itself has a share, and all of them together are no more than the process may have.
package struct DescriptorBudget: Sendable, Hashable {
  /// More connections of shoppers than this are opened only if the configuration says so: each costs memory.
  static let usualMaximum = 10_000
  static let fewest = 8
  /// How many connections of shoppers beyond the maximum may be closing.
  package static let closing = 16

  let limit: Int
  /// For the store, the key agent, mail, the log, the doctor and its calls, sign-ins at a provider, event loops and libraries.
  let own: Int

  // Connections at the listeners, those that are closing among them.
  package let shoppers: Int
  package let office: Int
  package let metrics: Int
  package let administration: Int

  // Connections to others, for twice as many calls as are under way: ``OutboundConnections`` says why.
  let acquirers: Int
  let apple: Int
  /// For prices and baskets of merchants' own servers, and for what operators look up.
  let merchants: Int
  let webhooks: Int

  /// How many payments may be under way: each calls its acquirer.
  package let payments: Int
  /// How many webhooks are sent to one endpoint at once.
  package let webhooksAtOne: Int
  /// To how many endpoints webhooks are sent at once.
  package let webhookEndpoints: Int

  // What pages and merchants' servers cause. One merchant has a part of each: its slow servers, and a page that asks for
  // much, leave the rest to others.

  /// How many calls of the platform API one merchant may have under way: each may call its acquirer.
  package var callsOfMerchant: Int { max(1, payments / 2) }
  /// How many merchant sessions may be asked for at once.
  package var sessions: Int { min(128, max(1, apple / 2)) }
  /// How many prices and baskets merchants' own servers may be asked for at once.
  package var callsToMerchants: Int { max(1, merchants / 2 - domainChecks) }
  /// How many domains operators may look at at once.
  package var domainChecks: Int { max(1, merchants / 16) }
  /// How many refusals may wait for their turn at once, each on a connection of its caller's.
  package var refusals: Int { max(1, shoppers / 4) }

  /// - Parameter limit: of the descriptors of the process.
  /// - Throws: ``ConfigurationError`` when they are too few.
  package init(_ configuration: ServerConfiguration, limit: Int) throws {
    // Where there is no limit.
    let limit = min(limit, 1 << 20)
    self.limit = limit
    own =
      76 + 3 * ProcessInfo.processInfo.activeProcessorCount
      + (configuration.storeURL == nil ? 0 : configuration.storeConnections)
      + (configuration.keyAgentSocket == nil ? 0 : KeyAgentClient.limit)
    office = configuration.office.port == nil ? 0 : min(256, limit / 8)
    metrics = configuration.metricsPort == nil ? 0 : min(16, limit / 16)
    administration = min(128, limit / 16)
    let free = max(0, limit - own - office - metrics - administration)
    let outbound = free / 2
    let wanted = min(configuration.gatewayPolicy.maximumInFlight, limit)
    acquirers = min(2 * (wanted + Self.recovery), outbound * 3 / 8)
    apple = min(2 * wanted, outbound / 4)
    merchants = min(256, outbound / 8)
    webhooks = min(
      2 * Self.mostEndpoints * configuration.webhookConcurrency, outbound - acquirers - apple - merchants)
    let available = free - acquirers - apple - merchants - webhooks
    shoppers =
      configuration.maximumConnections.map { min($0, limit) + Self.closing }
      ?? min(available, Self.usualMaximum)
    payments = min(wanted, max(1, acquirers / 2))
    webhooksAtOne = min(configuration.webhookConcurrency, max(1, webhooks / 2 / Self.fewestEndpoints))
    webhookEndpoints = min(Self.mostEndpoints, max(1, webhooks / 2 / webhooksAtOne))
    guard available >= Self.fewest, merchants >= 1, shoppers <= available else {
      throw ConfigurationError(
        "connections.maximum",
        "of the \(limit) files that this process may open, \(max(0, available)) are left for connections, "
          + "and \(max(Self.fewest, shoppers)) are needed; "
          + "raise the limit (ulimit -n, LimitNOFILE)")
    }
  }

  /// Calls to acquirers that no caller waits for.
  private static let recovery = 64
  /// Where descriptors are few, fewer webhooks are sent to each endpoint rather than to fewer endpoints.
  private static let (fewestEndpoints, mostEndpoints) = (16, 128)
}

extension DescriptorBudget {
  /// Says what was taken, for what.
  package func report(_ configuration: ServerConfiguration, to logger: Logger) {
    let shares = [
      ("limit", limit), ("own", own), ("shoppers", shoppers), ("backOffice", office), ("metrics", metrics),
      ("administration", administration), ("acquirers", acquirers), ("apple", apple), ("merchants", merchants),
      ("webhooks", webhooks), ("callsOfMerchant", callsOfMerchant), ("sessions", sessions),
      ("callsToMerchants", callsToMerchants), ("domainChecks", domainChecks), ("refusals", refusals),
    ]
    let metadata = Logger.Metadata(uniqueKeysWithValues: shares.map { ($0, .stringConvertible($1)) })
    logger.info("open files are shared out", metadata: metadata)
    guard payments < configuration.gatewayPolicy.maximumInFlight else { return }
    logger.warning(
      "fewer payments than payments.maximumInFlight may be under way; raise the limit of open files (ulimit -n, LimitNOFILE)",
      metadata: ["payments": .stringConvertible(payments)])
  }
}
