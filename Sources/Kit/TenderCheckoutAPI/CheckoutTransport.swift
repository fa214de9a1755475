/// One HTTP call of the checkout API.
public struct CheckoutCall: Sendable, Hashable {
  /// The methods of HTTP that the checkout API uses.
  public enum Method: String, Sendable, Hashable {
    /// Asks.
    case get = "GET"
    /// Saves what the shopper decided.
    case put = "PUT"
    /// Sends a change, or pays.
    case post = "POST"
    /// Cancels.
    case delete = "DELETE"
  }

  /// The HTTP method.
  public let method: Method
  /// Below the server's address, beginning with `/applepay/`.
  public let path: String
  /// JSON; nil for none.
  public let body: [UInt8]?

  /// A call, with or without a body.
  public init(_ method: Method, _ path: String, body: [UInt8]? = nil) {
    self.method = method
    self.path = path
    self.body = body
  }
}

extension CheckoutCall: CustomStringConvertible {
  /// Never the body: a payment's holds the payment token.
  public var description: String { "\(method.rawValue) \(path)" }
}

/// The server's answer, with any status.
public struct CheckoutReply: Sendable, Hashable {
  /// The HTTP status.
  public let status: Int
  /// Unchanged; JSON, unless a proxy answered.
  public let body: [UInt8]

  /// An answer, as a test's transport gives it.
  public init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}

/// Why there is no answer.
public enum CheckoutInterruption: Error, Sendable, Hashable {
  /// No byte of the call was sent.
  case notSent(String)
  /// The call may have arrived.
  case lost
}

/// The network as a function: ``urlSession(server:configuration:)``, or a test's own.
public struct CheckoutTransport: Sendable {
  /// Makes a call with a time limit.
  public let send:
    @Sendable (_ call: CheckoutCall, _ timeout: Duration) async throws(CheckoutInterruption) -> CheckoutReply

  /// A transport that calls the function.
  public init(
    send:
      @escaping @Sendable (_ call: CheckoutCall, _ timeout: Duration) async throws(CheckoutInterruption)
      -> CheckoutReply
  ) {
    self.send = send
  }
}
