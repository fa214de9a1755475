/// What `Package.swift` says, read as text: asking SwiftPM would wait for the build that runs the tests.
struct Manifest {
  /// For each target of `Sources`: the rooms and packages it names.
  let dependencies: [String: Set<String>]
  /// For each package: the version it is taken from.
  let packages: [String: String]

  init(_ text: String) {
    let rooms = text.matches(of: #/\broom\(\s*"(\w+)"(?:,\s*\[([^\]]*)\])?/#).map { ($0.output.1, $0.output.2) }
    let executables = text.matches(of: #/\.executableTarget\(\s*name: "(\w+)",\s*dependencies: \[([^\]]*)\]/#)
      .map { ($0.output.1, Optional($0.output.2)) }
    var dependencies: [String: Set<String>] = [:]
    for (name, list) in rooms + executables {
      dependencies[String(name)] = Set((list ?? "").matches(of: #/"(\w+)"/#).map { String($0.output.1) })
    }
    self.dependencies = dependencies
    self.packages = Dictionary(
      text.matches(of: #/url: "[^"]*\/([^\/"]+)", from: "([0-9.]+)"/#).map {
        (String($0.output.1), String($0.output.2))
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// Packages that may be resolved to a version with a published fault.
  func faultyPackages() -> [Violation] {
    Self.floors.compactMap { package, floor in
      guard let version = packages[package], Self.numbers(version).lexicographicallyPrecedes(Self.numbers(floor))
      else { return nil }
      return Violation(
        path: "Package.swift", line: 0, rule: "\(package) \(version) has a known fault: \(floor) or later")
    }
  }

  private static func numbers(_ version: String) -> [Int] { version.split(separator: ".").compactMap { Int($0) } }

  /// The first versions without: a double free in RSA (CVE-2026-43823); header injection and unbounded headers
  /// (CVE-2026-28970, CVE-2026-28980).
  private static let floors = [("swift-crypto", "4.5.1"), ("swift-nio", "2.100.0")]
}
