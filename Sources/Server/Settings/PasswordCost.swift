/// How much work a guess of a password costs: the parameters of scrypt.
package struct PasswordCost: Sendable, Hashable {
  /// N is 2 to this power.
  package let exponent: Int
  package let blockSize: Int
  package let parallelism: Int

  package init(exponent: Int, blockSize: Int, parallelism: Int) {
    self.exponent = exponent
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  /// 32 MiB and three passes: one of the settings that OWASP's Password Storage Cheat Sheet names.
  package static let standard = PasswordCost(exponent: 15, blockSize: 8, parallelism: 3)
  /// For tests, which hash many.
  package static let least = PasswordCost(exponent: 4, blockSize: 1, parallelism: 1)
}
