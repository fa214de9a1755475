extension Collection where Element == UInt8 {
  /// Whether both hold the same bytes, found in a time that depends on their lengths alone: for secrets and codes, where
  /// the time of a refusal must not say how many bytes were right.
  package func isEqualInConstantTime(to other: some Collection<UInt8>) -> Bool {
    zip(self, other).reduce(count ^ other.count) { $0 | Int($1.0 ^ $1.1) } == 0
  }
}
