/// Sends HTTP requests: a function from a request to a response or a ``TransportError``.
///
/// Modules take a sender, not a client, so that tests can replace the network and only the server's wiring chooses the
/// certificates.
package struct HTTPSender: Sendable {
  /// Sends the request and waits at most `timeout` for the whole answer. Redirects are returned, never followed.
  package let send:
    @Sendable (_ request: OutboundRequest, _ timeout: Duration) async throws(TransportError) -> InboundResponse

  package init(
    send: @escaping @Sendable (OutboundRequest, Duration) async throws(TransportError) -> InboundResponse
  ) {
    self.send = { request, timeout throws(TransportError) in
      NetworkUse.note()
      do throws(TransportError) { return try await send(request, timeout) } catch {
        if error == OutboundConnections.refusal { NetworkUse.takeBack() }
        throw error
      }
    }
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

/// Why there is no response. The cases say whether the request may have arrived, which decides whether a payment can be
/// repeated.
package enum TransportError: Error, Sendable, Hashable {
  /// No byte of the request was sent: the name did not resolve, the connection was refused, or TLS failed.
  case notSent(String)
  /// The connection ended before the response was complete. The request may have arrived.
  case interrupted(String)
  /// The time limit passed. The request may have arrived.
  case timedOut
  /// The response is longer than the client accepts.
  case responseTooLarge
}
