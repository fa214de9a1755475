/// Pieces of work that take turns: in each round every piece runs one batch. The fastest batch of all rounds counts,
/// because other processes disturbed it least.
struct Rounds {
  struct Work {
    let name: String
    let batch: Int
    let body: () throws -> Void

    init(_ name: String, batch: Int, _ body: @escaping () throws -> Void) {
      self.name = name
      self.batch = batch
      self.body = body
    }
  }

  struct Times {
    fileprivate var fastest: [String: Duration] = [:]
    /// The time of one piece of work.
    subscript(name: String) -> Duration { fastest[name] ?? .zero }
  }

  private let count: Int
  private let works: [Work]

  init(count: Int, _ works: [Work]) {
    self.count = count
    self.works = works
  }

  func run() throws -> Times {
    var times = Times()
    for _ in 0..<count {
      for work in works {
        let time = try Self.time(work)
        times.fastest[work.name] = min(times.fastest[work.name] ?? time, time)
      }
    }
    return times
  }

  private static func time(_ work: Work) throws -> Duration {
    let clock = ContinuousClock()
    let elapsed = try clock.measure {
      for _ in 0..<work.batch { try work.body() }
    }
    return elapsed / work.batch
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
  var microseconds: Double { seconds * 1e6 }
}
