package import HTTPTransport

extension HTTPSender {
  /// A sender that reaches names of this machine without a resolver.
  ///
  /// Names below `.localhost` are this machine by RFC 6761, but not every resolver knows it, so they are called by
  /// their address and named in the Host header.
  package var knowingLoopback: HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      let (address, host) = Self.loopback(request.url)
      let headers = request.headers + (host.map { [HTTPField("Host", $0)] } ?? [])
      return try await send(
        OutboundRequest(method: request.method, url: address, headers: headers, body: request.body), timeout)
    }
  }

  private static func loopback(_ url: String) -> (address: String, host: String?) {
    guard url.hasPrefix("http://") else { return (url, nil) }
    let authority = String(url.dropFirst(7).prefix { $0 != "/" })
    let (name, port) = (String(authority.prefix { $0 != ":" }), authority.drop { $0 != ":" })
    guard name == "localhost" || name.hasSuffix(".localhost") else { return (url, nil) }
    return ("http://127.0.0.1\(port)" + url.dropFirst(7 + authority.count), authority)
  }
}
