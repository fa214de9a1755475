/// One call of the checkout API as it goes onto the wire.
public struct CheckoutCall: Sendable, Hashable {
  /// The methods of HTTP that the checkout API uses.
  public enum Method: String, Sendable, Hashable { case get = "GET", put = "PUT", post = "POST", delete = "DELETE" }

  public let method: Method
  /// Below the server's address, beginning with `/applepay/`.
  public let path: String
  /// JSON; nil for none.
  public let body: [UInt8]?

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

/// The server's answer, whatever it says.
public struct CheckoutReply: Sendable, Hashable {
  public let status: Int
  public let body: [UInt8]

  public init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}

/// Why there is no answer.
public enum CheckoutInterruption: Error, Sendable, Hashable {
  /// Provably no byte of the call left this device.
  case notSent(String)
  /// The call may have arrived.
  case lost
}

/// The network, as one function. ``urlSession(server:configuration:)`` is the real one; tests hand in their own.
public struct CheckoutTransport: Sendable {
  /// Makes a call, and gives up after `timeout`.
  public let send:
    @Sendable (_ call: CheckoutCall, _ timeout: Duration) async throws(CheckoutInterruption) -> CheckoutReply

  public init(
    send:
      @escaping @Sendable (_ call: CheckoutCall, _ timeout: Duration) async throws(CheckoutInterruption)
      -> CheckoutReply
  ) {
    self.send = send
  }
}
