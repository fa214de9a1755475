import ApplePayToken
import TenderPayments

/// The protocol of the agent's socket. A message is its length in four bytes, most significant first, then so many
/// bytes.
///
///     question   1, verb, …            unwrap, mistakes: public key hash (32), version (1), key material
///     answer     0, …                  unwrap: the AES key; mistakes: number and AES key of each; list: the keys
///                1, code, 0, reason    a refusal
enum AgentMessages {
  /// The bytes of a message's length, which stands before it.
  static let lengthBytes = 4
  /// Longer messages are not read. The longest request has 600 bytes.
  static let questionLimit = 2 << 10
  static let answerLimit = 1 << 20
  static let protocolVersion: UInt8 = 1
}

/// What a client asks.
enum AgentQuestion {
  case unwrap(publicKeyHash: [UInt8], EncryptedPaymentToken.KeyMaterial)
  case mistakes(publicKeyHash: [UInt8], EncryptedPaymentToken.KeyMaterial)
  case list

  var bytes: [UInt8] {
    let version = AgentMessages.protocolVersion
    return switch self {
    case .unwrap(let hash, let material): [version, 1] + hash + [material.version.number] + material.bytes
    case .mistakes(let hash, let material): [version, 2] + hash + [material.version.number] + material.bytes
    case .list: [version, 3]
    }
  }

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[0] == AgentMessages.protocolVersion else { return nil }
    switch bytes[1] {
    case 1, 2:
      guard bytes.count > 35, let version = EncryptedPaymentToken.Version(number: bytes[34]) else { return nil }
      let (hash, material) = (Array(bytes[2..<34]), version.material(Array(bytes[35...])))
      self = bytes[1] == 1 ? .unwrap(publicKeyHash: hash, material) : .mistakes(publicKeyHash: hash, material)
    case 3 where bytes.count == 2: self = .list
    default: return nil
    }
  }
}

extension EncryptedPaymentToken.Version {
  var number: UInt8 { self == .ecV1 ? 1 : 2 }

  init?(number: UInt8) {
    switch number {
    case 1: self = .ecV1
    case 2: self = .rsaV1
    default: return nil
    }
  }

  fileprivate func material(_ bytes: [UInt8]) -> EncryptedPaymentToken.KeyMaterial {
    self == .ecV1 ? .ephemeralPublicKey(bytes) : .wrappedKey(bytes)
  }
}

extension EncryptedPaymentToken.KeyMaterial {
  fileprivate var version: EncryptedPaymentToken.Version {
    switch self {
    case .ephemeralPublicKey: .ecV1
    case .wrappedKey: .rsaV1
    }
  }
}

/// What the agent answers.
enum AgentAnswer {
  case done([UInt8])
  case refused(PaymentTokenError)

  /// The caller wipes them.
  var bytes: [UInt8] {
    switch self {
    case .done(let bytes): [0] + bytes
    case .refused(let error): [1] + Array(error.code.rawValue.utf8) + [0] + Array(error.reason.utf8)
    }
  }

  init?(_ bytes: some Collection<UInt8>) {
    switch bytes.first {
    case 0: self = .done(Array(bytes.dropFirst()))
    case 1:
      let parts = bytes.dropFirst().split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2,
        let code = PaymentTokenError.Code(rawValue: String(decoding: parts[0], as: UTF8.self))
      else { return nil }
      self = .refused(PaymentTokenError(code, String(decoding: parts[1], as: UTF8.self)))
    default: return nil
    }
  }

  /// Overwrites what may be a key.
  mutating func wipe() {
    guard case .done(var bytes) = self else { return }
    // `bytes` now has the only reference.
    self = .done([])
    bytes.wipe()
  }
}
