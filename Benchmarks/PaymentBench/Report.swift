import Foundation

/// Why the benchmark says nothing: what it saw is wrong, so its figures are worth nothing either.
struct BenchFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// One line a figure: `bench: NAME VALUE UNIT`.
func report(_ name: String, _ value: Double, _ unit: String) {
  print("bench: \(name) \(String(format: value < 10 ? "%.3f" : "%.1f", value)) \(unit)")
  fflush(nil)
}

/// The same with a bar, and a word when it was missed.
func report(_ name: String, _ value: Double, _ unit: String, bar: Bar?) {
  report(name, value, unit)
  if let bar, !bar.holds(value) { print("missed: \(name), the bar is \(bar)") }
}

enum Bar: CustomStringConvertible {
  case atLeast(Double)
  case atMost(Double)

  func holds(_ value: Double) -> Bool {
    switch self {
    case .atLeast(let bar): value >= bar
    case .atMost(let bar): value <= bar
    }
  }

  var description: String {
    switch self {
    case .atLeast(let bar): "\(bar) or more"
    case .atMost(let bar): "\(bar) or less"
    }
  }
}

extension [Double] {
  /// The middle one by size, of an odd number; not a number, which meets no bar, where one is missing.
  var middle: Double { isEmpty || contains(where: \.isNaN) ? .nan : sorted()[count / 2] }
}
