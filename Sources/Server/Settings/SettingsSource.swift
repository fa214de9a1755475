import Foundation
import TenderPayments

/// A place that values are written in: a file, the environment, the command line.
package struct SettingsSource: Sendable {
  /// What is written for each setting, by its key.
  package let values: [String: WrittenValue]

  package init(values: [String: WrittenValue]) {
    self.values = values
  }

  /// What the names of all environment variables of the server begin with.
  static let variablePrefix = "TENDER_"

  /// What the command line gives, by key: `--port` for `port`.
  static func flags(_ flags: [String: String]) -> SettingsSource {
    SettingsSource(values: flags.reduce(into: [:]) { $0[$1.key] = WrittenValue(text: $1.value, place: "--\($1.key)") })
  }
}

/// What is written for one setting, before it is read.
package struct WrittenValue: Sendable {
  package enum Content: Sendable, Hashable {
    case text(String)
    case list([Content])
    /// Keys with values below it.
    case mapping
    /// `null`, or nothing at all.
    case nothing
  }

  package let content: Content
  /// For messages: `tender.yaml:3`, `TENDER_PORT`, `--port`.
  let place: String

  package init(_ content: Content, place: String) {
    self.content = content
    self.place = place
  }

  package init(text: String, place: String) { self.init(text.isEmpty ? .nothing : .text(text), place: place) }

  /// The texts that the setting's type reads.
  ///
  /// - Parameter isList: which shape the setting has.
  func texts(isList: Bool) throws(UnfitValue) -> [String] {
    switch content {
    case .text(let text) where !isList: return [try Self.printable(text)]
    case .list(let elements) where isList: return try elements.map(Self.element)
    default: throw UnfitValue(found: Self.words(for: content))
    }
  }

  private static func element(_ content: Content) throws(UnfitValue) -> String {
    guard case .text(let text) = content else {
      throw UnfitValue(found: "\(words(for: content)) in the list")
    }
    return try printable(text)
  }

  private static func printable(_ text: String) throws(UnfitValue) -> String {
    guard text.unicodeScalars.allSatisfy(\.isPrintable) else {
      throw UnfitValue(found: "a text with control characters or several lines")
    }
    guard let first = text.unicodeScalars.first, let last = text.unicodeScalars.last else {
      throw UnfitValue(found: "nothing")
    }
    guard first != " ", last != " " else { throw UnfitValue(found: "a text that begins or ends with a space") }
    return text
  }

  private static func words(for content: Content) -> String {
    switch content {
    case .text(let text): "“\(text)”"
    case .list: "a list"
    case .mapping: "keys with values"
    case .nothing: "nothing"
    }
  }
}

extension SettingsTable {
  /// The environment variables of the server: every one whose name begins with `TENDER_`.
  ///
  /// A list is written with commas. A variable that names no setting is refused.
  package func variables(_ variables: [String: String]) throws -> SettingsSource {
    var problems = ProblemList()
    let source = self.variables(variables, &problems)
    try problems.throwFirst()
    return source
  }

  /// Reads the variables, and reads on after a problem.
  func variables(_ variables: [String: String], _ problems: inout ProblemList) -> SettingsSource {
    let settings = Dictionary(uniqueKeysWithValues: self.settings.map { ($0.variable, $0) })
    var values: [String: WrittenValue] = [:]
    for (name, text) in variables.sorted(by: { $0.key < $1.key }) where name.hasPrefix(SettingsSource.variablePrefix) {
      guard let setting = settings[name] else {
        let advice = advice(for: name, spelling: Setting<Target>.variable)
        problems.add(ConfigurationError(name, "there is no such setting\(advice)"))
        continue
      }
      values[setting.key] = Self.value(of: text, isList: setting.isList, place: name)
    }
    return SettingsSource(values: values)
  }

  package static func value(of text: String, isList: Bool, place: String) -> WrittenValue {
    guard isList, !text.isEmpty else { return WrittenValue(text: text, place: place) }
    let elements = text.split(separator: ",", omittingEmptySubsequences: false).map {
      $0.trimmingCharacters(in: [" "])
    }
    return WrittenValue(.list(elements.map { $0.isEmpty ? .nothing : .text($0) }), place: place)
  }
}
