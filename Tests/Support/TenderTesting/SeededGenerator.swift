import Synchronization
package import TenderPayments

/// SplitMix64: the same numbers for the same seed, so that a failure can be reproduced.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

extension RandomBytes {
  /// Repeatable bytes for a test. Drawn in an order that concurrent callers decide.
  package static func seeded(_ seed: UInt64) -> RandomBytes {
    let generator = SharedGenerator(seed: seed)
    return RandomBytes { generator.bytes($0) }
  }
}

private final class SharedGenerator: Sendable {
  private let generator: Mutex<SeededGenerator>

  init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

  func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in
      (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
  }
}
