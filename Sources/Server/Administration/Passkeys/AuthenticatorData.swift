import Crypto

/// What an authenticator says and signs (WebAuthn, section 6.1).
struct AuthenticatorData: Sendable {
  /// SHA-256 of the relying party's id.
  let relyingPartyHash: [UInt8]
  private let flags: UInt8
  /// How often the passkey was used; zero, always, where it does not count.
  let counter: UInt32
  /// Nil where no passkey was made.
  let made: MadePasskey?

  /// Whether a person touched the authenticator.
  var isPresent: Bool { flags & 0x01 != 0 }
  /// Whether it knows who.
  var isVerified: Bool { flags & 0x04 != 0 }

  init(_ bytes: [UInt8]) throws(PasskeyRefusal) {
    guard bytes.count >= 37 else { throw .unreadable }
    (relyingPartyHash, flags) = (Array(bytes[..<32]), bytes[32])
    counter = bytes[33..<37].reduce(0) { $0 << 8 | UInt32(truncatingIfNeeded: $1) }
    var rest = bytes[37...]
    made = try flags & 0x40 == 0 ? nil : MadePasskey(&rest)
    if flags & 0x80 != 0 {
      var reader = CBORReader(rest)
      guard try reader.next().members != nil else { throw .unreadable }
      rest = reader.rest
    }
    guard rest.isEmpty else { throw .unreadable }
  }
}

/// A passkey that an authenticator has made.
struct MadePasskey: Sendable {
  static let longestID = 1_023

  let id: [UInt8]
  let key: PasskeyKey

  /// - Parameter rest: begins with the model of the authenticator, which nobody is asked for.
  fileprivate init(_ rest: inout ArraySlice<UInt8>) throws(PasskeyRefusal) {
    let head = Array(rest.prefix(18))
    guard head.count == 18 else { throw .unreadable }
    let length = Int(head[16]) << 8 | Int(head[17])
    rest = rest.dropFirst(18)
    guard (1...Self.longestID).contains(length), length <= rest.count else { throw .unreadable }
    id = Array(rest.prefix(length))
    var reader = CBORReader(rest.dropFirst(length))
    key = try PasskeyKey(try reader.next())
    rest = reader.rest
  }
}

/// The public key of a passkey: ES256 on P-256, and nothing else.
struct PasskeyKey: Sendable {
  private let key: P256.Signing.PublicKey

  /// - Parameter value: a COSE key (RFC 9053), with these five members alone.
  init(_ value: CBORValue) throws(PasskeyRefusal) {
    guard value[1]?.integer == 2, value[3]?.integer == -7, value[-1]?.integer == 1 else { throw .algorithm }
    guard value.members == 5, let x = value[-2]?.bytes, let y = value[-3]?.bytes, x.count == 32, y.count == 32,
      let key = try? P256.Signing.PublicKey(x963Representation: [4] + x + y)
    else { throw .unreadable }
    self.key = key
  }

  /// - Parameter stored: as ``stored`` gives it.
  init?(stored: [UInt8]) {
    guard let key = try? P256.Signing.PublicKey(x963Representation: stored) else { return nil }
    self.key = key
  }

  var stored: [UInt8] { Array(key.x963Representation) }

  /// - Parameter signature: DER.
  func hasSigned(_ message: [UInt8], with signature: [UInt8]) -> Bool {
    guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
    return key.isValidSignature(signature, for: message)
  }
}
