import Foundation
import Storage
import Yams

extension SettingsTable {
  /// The settings of a YAML file.
  ///
  /// A key that is no setting is refused: a misspelt one would be a default that the operator did not choose.
  package func file(_ path: String) throws -> SettingsSource {
    var problems = ProblemList()
    let source = file(path, &problems)
    try problems.throwFirst()
    return source
  }

  /// Reads a file of settings, and reads on after a problem.
  func file(_ path: String, _ problems: inout ProblemList) -> SettingsSource {
    guard let mapping = problems.attempt(path, { try mapping(path) }) ?? nil else { return SettingsSource(values: [:]) }
    return source(mapping, of: path, &problems)
  }

  /// The settings of a text in YAML.
  ///
  /// - Parameter place: for messages.
  package func yaml(_ text: String, of place: String) throws -> SettingsSource {
    var problems = ProblemList()
    guard let mapping = try mapping(text, of: place) else { return SettingsSource(values: [:]) }
    let source = source(mapping, of: place, &problems)
    try problems.throwFirst()
    return source
  }

  private func source(_ mapping: Node.Mapping, of place: String, _ problems: inout ProblemList) -> SettingsSource {
    var values: [String: WrittenValue] = [:]
    read(mapping, below: "", of: place, into: &values, &problems)
    return SettingsSource(values: values)
  }

  /// - Returns: nil for a file without settings.
  private func mapping(_ path: String) throws -> Node.Mapping? {
    guard let data = FileManager.default.contents(ofFile: path), let text = String(bytes: data, encoding: .utf8) else {
      throw ConfigurationError(path, "the file cannot be read as text in UTF-8 of at most 16 MiB")
    }
    return try mapping(text, of: path)
  }

  private func mapping(_ text: String, of path: String) throws -> Node.Mapping? {
    do throws(PlainYAML.Trouble) { try PlainYAML.check(text) } catch {
      throw ConfigurationError("\(path):\(error.line)", error.reason)
    }
    let root: Node?
    do { root = try Yams.compose(yaml: text) } catch { throw Self.unreadable(error, path) }
    guard let root, !root.isNothing else { return nil }
    guard let mapping = root.mapping else {
      throw ConfigurationError(path, "the file holds no settings; write lines such as `\(sample)`")
    }
    return mapping
  }

  private static func unreadable(_ error: any Error, _ path: String) -> ConfigurationError {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      ConfigurationError("\(path):\(mark.line)", "this is no YAML: \(problem)")
    default: ConfigurationError(path, "this is no YAML: \(error)")
    }
  }

  private var sample: String { settings.first.map { "\($0.key): \($0.example)" } ?? "key: value" }

  private func read(
    _ mapping: Node.Mapping, below group: String, of file: String, into values: inout [String: WrittenValue],
    _ problems: inout ProblemList
  ) {
    for (name, node) in mapping {
      let place = "\(file):\(name.mark?.line ?? 0)"
      guard let key = problems.attempt(place, { try Self.key(name, below: group, place) }) else { continue }
      if contains(key) {
        values[key] = WrittenValue(node.content, place: place)
      } else if !isGroup(key) {
        problems.add(unknown(node.firstKey(below: key), place, isAdvised: problems.problems.count < Self.mostAdvised))
      } else if let members = problems.attempt(key, { try members(of: node, key, place) }) {
        read(members, below: key + ".", of: file, into: &values, &problems)
      }
    }
  }

  private static func key(_ name: Node, below group: String, _ place: String) throws -> String {
    guard let word = name.scalar?.string, !word.contains(".") else {
      throw ConfigurationError(place, "a key is one word without dots; write `store:` and `  path: …` below it")
    }
    return group + word
  }

  private func members(of node: Node, _ group: String, _ place: String) throws -> Node.Mapping {
    guard let mapping = node.mapping, !mapping.isEmpty else {
      let members = settings.map(\.key).filter { $0.hasPrefix(group + ".") }.joined(separator: ", ")
      throw ConfigurationError(
        group, "settings are missing below it; write \(members), or take the line out", place: place)
    }
    return mapping
  }

  /// How many unknown settings get advice. A file with more of them is of something else.
  private static var mostAdvised: Int { 20 }

  private func unknown(_ key: String, _ place: String, isAdvised: Bool) -> ConfigurationError {
    ConfigurationError(place, "there is no setting \(key)\(isAdvised ? advice(for: key) : "")")
  }
}

extension Node {
  /// `null`, or nothing: what YAML makes of a key without a value.
  fileprivate var isNothing: Bool {
    guard let scalar else { return false }
    return scalar.style == .plain && ["", "~", "null", "Null", "NULL"].contains(scalar.string) || scalar.string.isEmpty
  }

  fileprivate var content: WrittenValue.Content {
    switch self {
    case _ where isNothing: .nothing
    case .scalar(let scalar): .text(scalar.string)
    case .sequence(let sequence): .list(sequence.map(\.content))
    case .mapping, .alias: .mapping
    }
  }

  /// The whole name of the first value: `store.colour`.
  fileprivate func firstKey(below path: String) -> String {
    guard let first = mapping?.first, let name = first.key.scalar?.string else { return path }
    return first.value.firstKey(below: "\(path).\(name)")
  }
}
