/// HTTP as one function: a request goes out, an answer or the reason for its absence comes back.
///
/// Rooms take a sender, not a client, so that tests answer in the place of the network and only the wiring knows
/// which certificates are used.
public struct HTTPSender: Sendable {
  /// Sends the request and waits at most `timeout` for the whole answer. Redirects are answers, never followed.
  public let send:
    @Sendable (_ request: OutboundRequest, _ timeout: Duration) async throws(TransportError) -> InboundResponse

  public init(
    send: @escaping @Sendable (OutboundRequest, Duration) async throws(TransportError) -> InboundResponse
  ) {
    self.send = send
  }
}

public struct HTTPField: Sendable, Hashable {
  public let name: String
  public let value: String

  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [HTTPField] {
  /// The value of the first field of this name, in any case.
  public func first(named name: String) -> String? {
    first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

public struct OutboundRequest: Sendable, Hashable {
  public let method: String
  /// Absolute, `http` or `https`.
  public let url: String
  public let headers: [HTTPField]
  public let body: [UInt8]

  public init(method: String, url: String, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

public struct InboundResponse: Sendable, Hashable {
  public let status: Int
  public let headers: [HTTPField]
  public let body: [UInt8]

  public init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first field of this name, in any case.
  public func header(_ name: String) -> String? { headers.first(named: name) }
}

/// Why there is no answer. The cases differ in the one thing that matters to money: whether the request may have
/// arrived.
public enum TransportError: Error, Sendable, Hashable {
  /// Provably not one byte of the request left: the name did not resolve, nobody listened, or TLS failed.
  case notSent(String)
  /// The connection ended before the answer was whole. The request may have arrived.
  case interrupted(String)
  /// Time ran out. The request may have arrived.
  case timedOut
  /// The answer is longer than the client accepts.
  case responseTooLarge
}
