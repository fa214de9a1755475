public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

extension CheckoutTransport {
  /// Over `URLSession`, on Apple's platforms and on Linux.
  ///
  /// Cookies and caches are off: calls need only the basket's id, and outcomes must be current. Redirects are not
  /// followed, because payments must go only to the configured server.
  ///
  /// - Parameters:
  ///   - server: `https://pay.example.com`, without a path.
  ///   - configuration: an ephemeral one by default.
  public static func urlSession(
    server: URL, configuration: URLSessionConfiguration = .ephemeral
  ) -> CheckoutTransport {
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    let session = URLSession(configuration: configuration, delegate: RedirectRefuser(), delegateQueue: nil)
    return CheckoutTransport { call, timeout async throws(CheckoutInterruption) in
      guard let request = URLRequest(call, server: server, timeout: timeout) else {
        throw .notSent("\(call.path) is no path")
      }
      do {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw CheckoutInterruption.lost }
        return CheckoutReply(status: response.statusCode, body: Array(data))
      } catch {
        throw CheckoutInterruption(error)
      }
    }
  }
}

extension URLRequest {
  fileprivate init?(_ call: CheckoutCall, server: URL, timeout: Duration) {
    let base = server.absoluteString
    let root = base.hasSuffix("/") ? String(base.dropLast()) : base
    guard let url = URL(string: root + call.path) else { return nil }
    self.init(url: url, timeoutInterval: Double(timeout.components.seconds) + 0.5)
    httpMethod = call.method.rawValue
    setValue("application/json", forHTTPHeaderField: "Accept")
    guard let body = call.body else { return }
    httpBody = Data(body)
    setValue("application/json", forHTTPHeaderField: "Content-Type")
  }
}

extension CheckoutInterruption {
  /// Only an error that precedes the connection proves that nothing was sent.
  init(_ error: any Error) {
    let unsent: Set<URLError.Code> = [
      .badURL, .unsupportedURL, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet,
      .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .dataNotAllowed, .internationalRoamingOff,
      .callIsActive,
    ]
    guard let error = error as? URLError, unsent.contains(error.code) else {
      self = .lost
      return
    }
    self = .notSent(error.localizedDescription)
  }
}

/// Refuses redirects.
private final class RedirectRefuser: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
