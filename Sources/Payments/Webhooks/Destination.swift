import Foundation
package import HTTPTransport

/// A URL that the server may call on a merchant's word, with the one address that it will be reached at.
///
/// Only ``DestinationGuard`` makes one. The connection is made to `address` and to nothing else, by a proxy too, so a name
/// that resolves to something else a moment later (DNS rebinding) gains nothing.
package struct Destination: Sendable, Hashable {
  package let url: String
  /// Without the brackets of an IPv6 address.
  package let host: String
  package let port: Int
  /// As text: `192.0.2.7`, `2001:db8::7`; nil where only the proxy can resolve the name.
  package let address: String?
  /// Whether a proxy is asked for the name, in place of the address.
  package let isNamedToProxy: Bool
}

/// Decides what the server calls on a merchant's word: webhooks, prices and baskets, icons, domains. The merchant names the
/// URL, but the server makes the call, from inside the operator's network: without a guard a merchant could have it call
/// the operator's own machines.
package struct DestinationGuard: Sendable {
  /// Whether the operator lets merchants name hosts inside the operator's own network, and plain HTTP.
  let allowsPrivate: Bool
  /// Whether proxies are asked for names. Then a name that has no address here is left to the proxy.
  let namesToProxy: Bool
  let resolve: Resolver

  /// All addresses of a host, in the order in which they should be tried.
  package typealias Resolver = @Sendable (_ host: String) async throws -> [(address: NetworkAddress, text: String)]

  package init(
    allowsPrivate: Bool, namesToProxy: Bool = false, resolve: @escaping Resolver = DestinationGuard.system
  ) {
    (self.allowsPrivate, self.namesToProxy, self.resolve) = (allowsPrivate, namesToProxy, resolve)
  }

  /// Checks the URL as it is written, resolves its host, and checks every address. One address that is not public
  /// refuses them all, because such a name may be an attack.
  package func destination(_ url: String) async throws -> Destination {
    let host = try Self.host(of: url, allowsPlain: allowsPrivate)
    let addresses = (try? await resolve(host)) ?? []
    guard let first = addresses.first?.text ?? (namesToProxy ? host : nil) else {
      throw DestinationRefusal.unresolvable(host)
    }
    let isPublic = addresses.isEmpty ? Self.mayBePublic(host) : addresses.allSatisfy { $0.address.isPublic }
    guard allowsPrivate || isPublic else { throw DestinationRefusal.privateAddress(host) }
    let parts = URLComponents(string: url)
    return Destination(
      url: url, host: host, port: parts?.port ?? (parts?.scheme == "http" ? 80 : 443),
      address: addresses.isEmpty ? nil : first, isNamedToProxy: namesToProxy)
  }

  /// Whether the spelling of a name that has no address here leaves it open that the name is a public one: it has a dot,
  /// is no address, and does not end as names of private networks do (RFC 6761, RFC 6762, RFC 8375, and `.internal`).
  private static func mayBePublic(_ host: String) -> Bool {
    let labels = host.lowercased().split(separator: ".")
    let isPrivate = ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "arpa"].contains {
      labels.last?.elementsEqual($0) == true
    }
    let isNumber = labels.last?.first?.isNumber == true
    return labels.count > 1 && !isPrivate && !isNumber && !host.contains(":")
  }

  /// What can be checked before anything is resolved: for configuration, and again before every call.
  ///
  /// - Returns: the host, without the brackets of an IPv6 address.
  @discardableResult
  package static func host(of url: String, allowsPlain: Bool) throws(DestinationRefusal) -> String {
    // Two URL parsers may see two hosts in one URL. Spellings on which they differ are refused.
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }),
      let parts = URLComponents(string: url), let host = parts.percentEncodedHost, !host.isEmpty, !host.contains("%")
    else { throw .malformed }
    guard parts.scheme == "https" || (parts.scheme == "http" && allowsPlain) else { throw .scheme }
    guard parts.user == nil, parts.password == nil, parts.fragment == nil else { throw .malformed }
    guard (1...65_535).contains(parts.port ?? 443) else { throw .malformed }
    return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
  }
}

extension DestinationGuard {
  /// Refuses what can be refused when a merchant names the URL. A name without an address may get one.
  package func check(_ url: String) async throws {
    try Self.host(of: url, allowsPlain: allowsPrivate)
    guard !allowsPrivate else { return }
    do { _ = try await destination(url) } catch DestinationRefusal.unresolvable { return }
  }

  /// Sends each request to an address that is checked at that moment, over a connection of its own.
  package func sender(over network: DeliveryNetwork) -> HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      let end = ContinuousClock.now + timeout
      let line: DeliveryNetwork.Line
      do { line = try network.open(try await destination(request.url, within: timeout)) } catch {
        throw Self.transportError(error)
      }
      do throws(TransportError) {
        let answer = try await line.sender.send(request, end - ContinuousClock.now)
        await line.close()
        return answer
      } catch {
        await line.close()
        throw error
      }
    }
  }

  /// The resolver cannot be interrupted: when it is late it is left to end by itself.
  private func destination(_ url: String, within limit: Duration) async throws -> Destination {
    let (outcomes, first) = AsyncStream.makeStream(of: Result<Destination, any Error>.self)
    Task {
      do { first.yield(.success(try await destination(url))) } catch { first.yield(.failure(error)) }
    }
    let timer = Task {
      try await Task.sleep(for: limit)
      first.yield(.failure(TransportError.timedOut))
    }
    defer { timer.cancel() }
    for await outcome in outcomes { return try outcome.get() }
    throw CancellationError()
  }

  private static func transportError(_ error: any Error) -> TransportError {
    switch error {
    case let error as TransportError: error
    case let refusal as DestinationRefusal: .notSent(refusal.words)
    default: .notSent("\(error)")
    }
  }
}

/// Why nothing is sent to a URL.
package enum DestinationRefusal: Error, Sendable, Hashable {
  /// Not an absolute URL, or with a user, a password, a fragment or letters that readers disagree about.
  case malformed
  /// Not https.
  case scheme
  case unresolvable(String)
  /// An address inside a private network.
  case privateAddress(String)

  /// For the operator and the merchant, in one line.
  package var words: String {
    switch self {
    case .malformed: "is no address that can be called; write https://host/path"
    case .scheme: "does not begin with https://"
    case .unresolvable(let host): "\(host) has no address"
    case .privateAddress(let host): "\(host) is inside a private network; webhooks.allowPrivateAddresses permits it"
    }
  }
}
