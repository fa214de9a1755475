public import Foundation

// As far as the app kit calls it: here it only has to compile.

public struct SHA512: Sendable {}

public struct SymmetricKeySize: Sendable {
  public let bitCount: Int
  public init(bitCount: Int) { self.bitCount = bitCount }
}

public struct SymmetricKey: Sendable {
  private let bytes: [UInt8]
  public init(data: Data) { bytes = Array(data) }
  public init(size: SymmetricKeySize) { bytes = (0..<size.bitCount / 8).map { _ in UInt8.random(in: 0...255) } }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes(body)
  }
}

public enum HMAC<Hash> {
  public static func authenticationCode(for data: Data, using key: SymmetricKey) -> [UInt8] { [] }
}
