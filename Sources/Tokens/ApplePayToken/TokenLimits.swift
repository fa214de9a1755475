/// Size limits of a payment token. Real tokens have 4 kB of JSON, 300 bytes of data and 2.6 kB of signature.
enum TokenLimits {
  static let json = 512 << 10
  static let data = 256 << 10
  static let signature = 16 << 10
  /// SubjectPublicKeyInfo of P-256, the point uncompressed.
  static let ephemeralPublicKey = 91
  /// A block of RSA-2048.
  static let wrappedKey = 256
}
