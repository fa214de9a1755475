package import StrictJSON

/// Calls to another server that send and receive JSON.
package struct JSONClient: Sendable {
  /// `scheme://host[:port]`.
  package let base: String
  let sender: HTTPSender
  let headers: [HTTPField]

  package init(_ base: String, sender: HTTPSender, headers: [HTTPField] = []) {
    self.base = base.hasSuffix("/") ? String(base.dropLast()) : base
    self.sender = sender
    self.headers = headers
  }

  package struct Answer: Sendable {
    package let status: Int
    /// `null` when the body is no JSON.
    package let body: JSONValue
    package let headers: [HTTPField]

    package init(_ answer: InboundResponse) {
      status = answer.status
      body = (try? JSONReader.read(answer.body)) ?? .null
      headers = answer.headers
    }

    package var isSuccess: Bool { (200..<300).contains(status) }
    /// The problem's code and explanation, or the bare status. The platform API puts both into its first error.
    package var errorText: String {
      let problem = body["code"] == nil ? body["errors"]?.elements.first ?? .null : body
      guard let code = problem["id"]?.text ?? problem["code"]?.text else { return "HTTP \(status)" }
      return "\(code): \(problem["detail"]?.text ?? problem["message"]?.text ?? "")"
    }
  }

  /// - Throws: ``CallFailure`` when there is no answer. A refusal is an answer.
  package func call(
    _ method: String, _ path: String, _ body: JSONValue? = nil, headers extra: [HTTPField] = [],
    timeout: Duration = .seconds(30)
  ) async throws -> Answer {
    let type = body == nil ? [] : [HTTPField("Content-Type", "application/json")]
    let request = OutboundRequest(
      method: method, url: base + path, headers: headers + extra + type, body: body?.serialized() ?? [])
    do {
      let answer = try await sender.send(request, timeout)
      return Answer(answer)
    } catch {
      throw CallFailure("\(base) does not answer: \(error.words)")
    }
  }

  /// - Throws: ``CallFailure`` also for a refusal.
  package func require(
    _ method: String, _ path: String, _ body: JSONValue? = nil, headers: [HTTPField] = []
  ) async throws -> JSONValue {
    let answer = try await call(method, path, body, headers: headers)
    guard answer.isSuccess else { throw CallFailure("\(method) \(base)\(path): \(answer.errorText)") }
    return answer.body
  }
}

/// A call that did not succeed; the text is for the operator.
package struct CallFailure: Error, CustomStringConvertible, Sendable {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// Why a TLS server's certificate is not accepted, in place of the library's words.
package enum CertificateTrust {
  package static let refused =
    "its certificate is self-signed, expired, or of an authority that this machine does not trust"
  package static let otherHost = "its certificate is for another name"

  /// - Parameter reason: the library's description of the error.
  package static func words(_ reason: String) -> String? {
    if reason.contains("CERTIFICATE_VERIFY_FAILED") { return refused }
    return reason.contains("failedToValidateHostname") ? otherHost : nil
  }
}

extension TransportError {
  /// Nil where the certificate is not the reason.
  package var certificateProblem: String? {
    if case .notSent(let reason) = self { CertificateTrust.words(reason) } else { nil }
  }

  /// Whether no process listens at the address or socket.
  package var isAbsence: Bool {
    if case .notSent(let reason) = self { reason.lowercased().contains("connection refused") } else { false }
  }

  /// For the operator, in one line.
  package var words: String {
    switch self {
    case .notSent where isAbsence: "nothing listens there"
    case .notSent(let reason) where reason.contains("UnknownHost") || reason.contains("SocketAddressError"):
      "the name of the host is unknown"
    case .notSent("not HTTP"): "the address must begin with http:// or https://"
    case .notSent(let reason): certificateProblem ?? "it cannot be reached (\(reason))"
    case .interrupted: "the connection ended before the answer"
    case .timedOut: "it took too long"
    case .responseTooLarge: "the answer is too long"
    }
  }
}
