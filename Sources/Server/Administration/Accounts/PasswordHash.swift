import Crypto
import CryptoExtras
import Dispatch
import Foundation
package import Settings
import Synchronization
package import TenderPayments

/// A password as the store keeps it: prepared (RFC 8265, OpaqueString), then hashed with scrypt (RFC 7914) under a salt of
/// its own. Keyboards write an umlaut as one scalar or as two, and both are one password. Prints masked.
package struct PasswordHash: Sendable {
  private static let bytes = 32
  let cost: PasswordCost
  private let salt: [UInt8]
  private let hash: [UInt8]

  /// Hashes a password, which keeps the caller's thread busy for a tenth of a second: the ``PasswordThread``.
  package init(_ password: String, cost: PasswordCost, random: RandomBytes) throws {
    (self.cost, salt) = (cost, random.next(16))
    hash = try Self.derive(Self.prepared(password), salt, cost)
  }

  /// - Parameter text: of the store: `scrypt$15$8$3$salt$hash`.
  init?(stored text: String) {
    let parts = text.split(separator: "$")
    guard parts.count == 6, parts[0].utf8.elementsEqual("scrypt".utf8), let exponent = Int(parts[1]),
      let blockSize = Int(parts[2]), let parallelism = Int(parts[3]), let salt = Base64.decode(parts[4]),
      let hash = Base64.decode(parts[5])
    else { return nil }
    cost = PasswordCost(exponent: exponent, blockSize: blockSize, parallelism: parallelism)
    (self.salt, self.hash) = (salt, hash)
  }

  var stored: String {
    "scrypt$\(cost.exponent)$\(cost.blockSize)$\(cost.parallelism)$\(Base64.encode(salt))$\(Base64.encode(hash))"
  }

  /// Former hashes are of what was typed, so that is tried too where it differs.
  package func matches(_ password: String) throws -> Bool {
    let prepared = Self.prepared(password)
    if hash.isEqualInConstantTime(to: try Self.derive(prepared, salt, cost)) { return true }
    guard !prepared.utf8.elementsEqual(password.utf8) else { return false }
    return hash.isEqualInConstantTime(to: try Self.derive(password, salt, cost))
  }

  /// The work of ``matches(_:)`` for a wrong password, where there is no hash to compare with.
  static func spend(on password: String, cost: PasswordCost) throws {
    let (prepared, salt) = (prepared(password), [UInt8](repeating: 0, count: 16))
    _ = try derive(prepared, salt, cost)
    if !prepared.utf8.elementsEqual(password.utf8) { _ = try derive(password, salt, cost) }
  }

  /// Every space is an ASCII one, and letters are composed.
  private static func prepared(_ password: String) -> String {
    let scalars = password.unicodeScalars.map { $0.properties.generalCategory == .spaceSeparator ? " " : $0 }
    return String(String.UnicodeScalarView(scalars)).precomposedStringWithCanonicalMapping
  }

  private static func derive(_ password: String, _ salt: [UInt8], _ cost: PasswordCost) throws -> [UInt8] {
    try KDF.Scrypt.deriveKey(
      from: Array(password.utf8), salt: salt, outputByteCount: bytes, rounds: 1 << cost.exponent,
      blockSize: cost.blockSize, parallelism: cost.parallelism
    ).withUnsafeBytes(Array.init)
  }
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The thread on which the office hashes passwords, so that no page waits for a sign-in.
final class PasswordThread: Sendable {
  /// How many may wait for it: more than people sign in at once.
  private static let longestQueue = 8

  private let queue = DispatchQueue(label: "office.passwords")
  private let waiting = Mutex(0)

  var isFull: Bool { waiting.withLock { $0 >= Self.longestQueue } }

  /// - Returns: nil where too many wait already, and nothing is done.
  func run<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R? {
    let isAdmitted = waiting.withLock { waiting in
      guard waiting < Self.longestQueue else { return false }
      waiting += 1
      return true
    }
    guard isAdmitted else { return nil }
    defer { waiting.withLock { $0 -= 1 } }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}

/// What a password must be. Length counts for more than kinds of characters (NIST SP 800-63B).
package enum PasswordRule {
  package static let length = 12...256

  /// Why a password is not taken; nil when it is.
  static func objection(to password: String, of name: String) -> String? {
    guard length.contains(password.count), password.utf8.count <= 1_024 else {
      return "A password has \(length.lowerBound) to \(length.upperBound) characters."
    }
    if Set(password).count < 5 { return "This password repeats itself; choose one with more different characters." }
    if name.count > 3, password.lowercased().contains(name) { return "A password does not contain the name." }
    return nil
  }
}
