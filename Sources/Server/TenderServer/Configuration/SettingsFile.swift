import Foundation
import Yams

extension SettingsTable {
  /// The settings of a YAML file.
  ///
  /// A key that is no setting is refused: a misspelt one would be a default that the operator did not choose.
  package func file(_ path: String) throws -> SettingsSource {
    guard let data = FileManager.default.contents(atPath: path), let text = String(bytes: data, encoding: .utf8) else {
      throw ConfigurationError(path, "the file cannot be read as text in UTF-8")
    }
    let root: Node?
    do { root = try Yams.compose(yaml: text) } catch {
      throw ConfigurationError(path, "this is no YAML that can be read: \(error)")
    }
    guard let root, !root.isNothing else { return SettingsSource(values: [:]) }
    guard let mapping = root.mapping else {
      throw ConfigurationError(path, "the file holds no settings; write lines such as `\(sample)`")
    }
    var values: [String: WrittenValue] = [:]
    try read(mapping, below: "", of: path, into: &values)
    return SettingsSource(values: values)
  }

  private var sample: String { settings.first.map { "\($0.key): \($0.example)" } ?? "key: value" }

  private func read(
    _ mapping: Node.Mapping, below group: String, of file: String, into values: inout [String: WrittenValue]
  ) throws {
    for (name, node) in mapping {
      let place = "\(file):\(name.mark?.line ?? 0)"
      guard let word = name.scalar?.string, !word.contains(".") else {
        throw ConfigurationError(place, "a key is one word without dots; write `store:` and `  path: …` below it")
      }
      let key = group + word
      if contains(key) {
        values[key] = WrittenValue(node.content, place: place)
      } else if isGroup(key) {
        try read(members(of: node, key, place), below: key + ".", of: file, into: &values)
      } else {
        throw unknown(node.firstKey(below: key), place)
      }
    }
  }

  private func members(of node: Node, _ group: String, _ place: String) throws -> Node.Mapping {
    guard let mapping = node.mapping, !mapping.isEmpty else {
      let members = settings.map(\.key).filter { $0.hasPrefix(group + ".") }.joined(separator: ", ")
      throw ConfigurationError(
        group, "\(place): settings are missing below it; write \(members), or take the line out")
    }
    return mapping
  }

  private func unknown(_ key: String, _ place: String) -> ConfigurationError {
    ConfigurationError(place, "there is no setting \(key)\(advice(for: key))")
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
