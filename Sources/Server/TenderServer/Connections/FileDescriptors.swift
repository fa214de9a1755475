import Foundation

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

/// How the descriptors of a process are shared out.
struct DescriptorBudget {
  /// For the store, the admin socket, the log, event loops and libraries.
  static let ownUse = 64
  /// For webhooks, merchants' own servers, Apple and recovery.
  static let otherRequests = 256
  /// More connections than this are opened only if the configuration says so: each costs memory.
  static let usualMaximum = 10_000
  static let fewest = 8

  let limit: Int
  let maximumPayments: Int

  /// Each payment has a connection to the acquirer beside the shopper's.
  private var outbound: Int { min(maximumPayments + Self.otherRequests, free / 2) }
  private var free: Int { max(0, limit - Self.ownUse) }

  /// How many connections can be accepted at once.
  var inbound: Int { free - outbound }

  /// - Parameter wanted: by the configuration; nil for as many as there can be, within reason.
  func maximumConnections(_ wanted: Int?) throws -> Int {
    let maximum = wanted ?? min(inbound, Self.usualMaximum)
    guard maximum <= inbound, inbound >= Self.fewest else {
      throw ConfigurationError(
        "connections.maximum",
        "\(max(maximum, Self.fewest)) connections need \(needed(max(maximum, Self.fewest))) open files, and this process may have \(limit); "
          + "raise the limit (ulimit -n, LimitNOFILE)")
    }
    return maximum
  }

  private func needed(_ connections: Int) -> Int {
    Self.ownUse + connections + min(maximumPayments + Self.otherRequests, connections)
  }
}
