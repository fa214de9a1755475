import Foundation

/// When each call of a run is due, counted from its beginning. It is made before the run and kept whatever the server
/// does: a server that stands still is not spared the calls that would have come meanwhile.
package struct Schedule: Sendable {
  package let offsets: [Duration]
  package let length: Duration

  /// One call after another at the same distance.
  package static func even(rate: Double, for length: Duration) -> Schedule {
    let count = Int(rate * length.seconds)
    return Schedule(offsets: (0..<count).map { .seconds(Double($0) / rate) }, length: length)
  }

  /// This one and then the other.
  package func followed(by next: Schedule) -> Schedule {
    Schedule(offsets: offsets + next.offsets.map { length + $0 }, length: length + next.length)
  }

  /// As shoppers come: independent of one another (a Poisson process), the same for the same seed.
  package static func random(rate: Double, for length: Duration, seed: UInt64) -> Schedule {
    var (offsets, chance, time): ([Duration], SplitMix, Double) = ([], SplitMix(state: seed), 0)
    while true {
      time += chance.exponential() / rate
      guard time < length.seconds else { return Schedule(offsets: offsets, length: length) }
      offsets.append(.seconds(time))
    }
  }
}

/// A small generator of numbers that look random (splitmix64), for schedules that can be repeated.
private struct SplitMix {
  var state: UInt64

  private mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// With the mean 1.
  mutating func exponential() -> Double {
    let uniform = (Double(next() >> 11) + 1) / Double(1 << 53)
    return -log(uniform)
  }
}

extension Duration {
  package var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
