import LoadGenerator
import Testing

@Suite struct `A schedule of calls` {
  @Test func `even calls keep their distance`() {
    let schedule = Schedule.even(rate: 4, for: .seconds(2))
    #expect(schedule.offsets.map(\.seconds) == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75])
  }

  @Test func `random calls come at the rate, in order, within the run`() {
    let schedule = Schedule.random(rate: 500, for: .seconds(40), seed: 7)
    #expect(abs(Double(schedule.offsets.count) / 40 - 500) < 25)
    #expect(schedule.offsets == schedule.offsets.sorted())
    #expect(schedule.offsets.allSatisfy { $0 < schedule.length })
  }

  @Test func `random calls are independent of one another`() {
    // Of a Poisson process, distances vary as much as they are long; of even calls they do not vary.
    let offsets = Schedule.random(rate: 100, for: .seconds(100), seed: 3).offsets.map(\.seconds)
    let distances = zip(offsets.dropFirst(), offsets).map { $0 - $1 }
    let mean = distances.reduce(0, +) / Double(distances.count)
    let variance = distances.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(distances.count)
    #expect(abs(variance / (mean * mean) - 1) < 0.1)
  }

  @Test func `one schedule follows another when that has ended`() {
    let both = Schedule.even(rate: 2, for: .seconds(2)).followed(by: .even(rate: 4, for: .seconds(1)))
    #expect(both.offsets.map(\.seconds) == [0, 0.5, 1, 1.5, 2, 2.25, 2.5, 2.75])
    #expect(both.length == .seconds(3))
  }

  @Test func `one seed is one schedule`() {
    func offsets(_ seed: UInt64) -> [Duration] { Schedule.random(rate: 50, for: .seconds(2), seed: seed).offsets }
    #expect(offsets(1) == offsets(1))
    #expect(offsets(1) != offsets(2))
  }
}

@Suite struct `Percentiles` {
  @Test func `they are measured values, by nearest rank`() {
    let times = Latencies((1...200).reversed().map { Int64($0) * 1_000 })
    #expect(times.percentile(0.5) == 100)
    #expect(times.percentile(0.99) == 198)
    #expect(times.percentile(1) == 200)
    #expect(Latencies([5_000]).percentile(0.01) == 5)
    #expect(Latencies([]).percentile(0.5) == nil)
  }
}
