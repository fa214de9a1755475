/// What `Package.swift` says, read as text: asking SwiftPM would wait for the build that runs the tests.
struct Manifest {
  /// For each module of `Sources`: its area.
  let modules: [String: String]
  /// For each module of `Sources`: the modules and packages it names.
  let dependencies: [String: Set<String>]
  /// For each package: the version it is taken from.
  let packages: [String: String]

  init(_ text: String) {
    let targets = text.matches(
      of: #/\b(?:module\(\s*"|tool\(\s*"Sources/|path: "Sources/)(\w+)/(\w+)"(?:,\s*\[([^\]]*)\])?/#)
    var modules: [String: String] = [:]
    var dependencies: [String: Set<String>] = [:]
    for target in targets.map(\.output) {
      modules[String(target.2)] = String(target.1)
      dependencies[String(target.2)] = Set((target.3 ?? "").matches(of: #/"(\w+)"/#).map { String($0.output.1) })
    }
    self.modules = modules
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
