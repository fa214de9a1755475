package import HTTPTransport

/// Fetches a domain's association file as Apple does: both names, 200 at once, exact bytes, and the root of the host.
package struct DomainCheck: Sendable {
  static let timeout: Duration = .seconds(10)

  private let sender: HTTPSender

  /// - Parameter sender: follows no redirect.
  package init(sender: HTTPSender) { self.sender = sender }

  /// What is wrong, for the operator; nil when Apple would find the file.
  ///
  /// - Parameter association: the file that belongs there; nil where the server has none for the domain.
  package func finding(of domain: Domain, association: DomainAssociation?) async -> String? {
    guard let association else {
      return "there is no association file; add the one of the developer account: tender domain add --association FILE"
    }
    for path in DomainAssociation.paths {
      if let finding = await finding(at: domain.origin + path, expecting: association.bytes) { return finding }
    }
    return await finding(at: domain.origin + "/", expecting: nil)
  }

  private func finding(at url: String, expecting bytes: [UInt8]?) async -> String? {
    let answer: InboundResponse
    do throws(TransportError) {
      answer = try await sender.send(OutboundRequest(method: "GET", url: url), Self.timeout)
    } catch {
      return "\(url) cannot be fetched: \(error.words)"
    }
    switch answer.status {
    case 200: break
    case 300..<400: return "\(url) redirects (\(answer.status)); Apple follows no redirect"
    default: return "\(url) answers \(answer.status); it has to answer 200"
    }
    guard let bytes, answer.body != bytes else { return nil }
    return "\(url) has other bytes (\(answer.body.count)) than the association file (\(bytes.count))"
  }
}

extension Domain {
  /// Where Apple looks; on this machine without TLS.
  fileprivate var origin: String { "\(isLoopback ? "http" : "https")://\(name)" }
}
