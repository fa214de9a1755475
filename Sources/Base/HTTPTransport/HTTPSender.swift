/// HTTP as one function: a request goes out, an answer or the reason for its absence comes back.
///
/// Rooms take a sender, not a client, so that tests answer in the place of the network and only the wiring knows
/// which certificates are used.
package struct HTTPSender: Sendable {
  /// Sends the request and waits at most `timeout` for the whole answer. Redirects are answers, never followed.
  package let send:
    @Sendable (_ request: OutboundRequest, _ timeout: Duration) async throws(TransportError) -> InboundResponse

  package init(
    send: @escaping @Sendable (OutboundRequest, Duration) async throws(TransportError) -> InboundResponse
  ) {
    self.send = send
  }
}

package struct HTTPField: Sendable, Hashable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

extension [HTTPField] {
  /// The value of the first field of this name, in any case.
  package func first(named name: String) -> String? {
    first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

package struct OutboundRequest: Sendable, Hashable {
  package let method: String
  /// Absolute, `http` or `https`.
  package let url: String
  package let headers: [HTTPField]
  package let body: [UInt8]

  package init(method: String, url: String, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

package struct InboundResponse: Sendable, Hashable {
  package let status: Int
  package let headers: [HTTPField]
  package let body: [UInt8]

  package init(status: Int, headers: [HTTPField] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first field of this name, in any case.
  package func header(_ name: String) -> String? { headers.first(named: name) }
}

/// Why there is no answer. The cases differ in the one thing that matters to money: whether the request may have
/// arrived.
package enum TransportError: Error, Sendable, Hashable {
  /// Provably not one byte of the request left: the name did not resolve, nobody listened, or TLS failed.
  case notSent(String)
  /// The connection ended before the answer was whole. The request may have arrived.
  case interrupted(String)
  /// Time ran out. The request may have arrived.
  case timedOut
  /// The answer is longer than the client accepts.
  case responseTooLarge
}
