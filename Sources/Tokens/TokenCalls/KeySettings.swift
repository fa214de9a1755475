import ApplePayToken
import StrictJSON
import TenderPayments

extension TokenKeys {
  /// Reads the keys from JSON:
  ///
  ///     {"keys": [{"privateKey": "-----BEGIN…", "certificate": "-----BEGIN…"}], "environment": "production"}
  ///
  /// A key has `certificate`, the payment processing certificate, or `merchantIdentifier`. `environment` is
  /// `production`, which is the default, `apple-sandbox`, or `simulated`, which needs `root`. `replayWindow` is how many
  /// payment tokens are remembered.
  ///
  /// - Throws: ``TokenCallError``; ``PaymentTokenError`` of stage `key`, whose field says which key.
  package convenience init(settings bytes: [UInt8]) throws {
    let settings = try CallFields(bytes, limit: 1 << 20, .malformedSettings)
    try settings.allow(["keys", "environment", "root", "replayWindow"])
    let keys = try settings.read { try $0.memberIfPresent("keys")?.array ?? [] }
    try self.init(
      keys.map { try Self.key(settings.at($0)) }, trusting: Self.trust(settings), capacity: Self.capacity(settings))
  }

  private static func key(_ fields: CallFields) throws -> ProcessingKey {
    try fields.allow(["privateKey", "certificate", "merchantIdentifier"])
    let (key, certificate, identifier) = try fields.read {
      (
        try $0.member("privateKey").string, try $0.memberIfPresent("certificate")?.string,
        try $0.memberIfPresent("merchantIdentifier")?.string
      )
    }
    do {
      switch (certificate, identifier) {
      case (let certificate?, nil): return try ProcessingKey(privateKeyPEM: key, certificatePEM: certificate)
      case (nil, let identifier?): return try ProcessingKey(privateKeyPEM: key, merchantIdentifier: identifier)
      case (nil, nil), (_?, _?): throw fields.mistake("give either certificate or merchantIdentifier")
      }
    } catch let error as PaymentTokenError {
      throw PaymentTokenError(error.code, error.reason, field: fields.path)
    }
  }

  private static func trust(_ settings: CallFields) throws -> TokenTrust {
    let (name, root) = try settings.read {
      (try $0.memberIfPresent("environment")?.string, try $0.memberIfPresent("root")?.string)
    }
    switch (name.map(Environment.init(rawValue:)) ?? .production, root) {
    case (.production?, nil): return .apple(production: true, sandbox: false)
    case (.appleSandbox?, nil): return .apple(production: false, sandbox: true)
    case (.simulated?, let root?): return try .simulated(rootPEM: root)
    case (.simulated?, nil): throw settings.mistake("the environment simulated needs root, the root of its sandbox")
    case (.production?, _?), (.appleSandbox?, _?):
      throw settings.mistake("root is for the environment simulated; Apple's own root is built in")
    case (nil, _): throw settings.mistake("environment is production, apple-sandbox or simulated")
    }
  }

  private static func capacity(_ settings: CallFields) throws -> Int? {
    guard let capacity = try settings.read({ try $0.memberIfPresent("replayWindow")?.integer }) else { return nil }
    guard (1...100_000_000).contains(capacity) else {
      throw settings.mistake("replayWindow is a number of payment tokens, 1 to 100000000")
    }
    return Int(clamping: capacity)
  }
}
