/// Every setting of a file, in the order in which they are read and documented.
package struct SettingsTable<Target: Sendable>: Sendable {
  package let settings: [Setting<Target>]
  /// What holds before anything is read: the defaults.
  let initial: Target
  /// New key by former key. A former key is refused with the new one.
  private let renamed: [String: String]

  init(_ initial: Target, _ settings: [Setting<Target>], renamed: [String: String] = [:]) {
    self.initial = initial
    self.settings = settings
    self.renamed = renamed
  }

  /// Reads every setting.
  ///
  /// - Parameter sources: the first that has a setting wins.
  /// - Returns: the settings, and the keys of those that were named.
  /// - Throws: ``ConfigurationError`` with the key, what was found, and what to write.
  package func read(_ sources: [SettingsSource]) throws -> (settings: Target, named: Set<String>) {
    var problems = ProblemList()
    let (target, places) = read(sources, &problems)
    try problems.throwFirst()
    return (target, Set(places.keys))
  }

  /// Reads the settings, and reads on after a problem.
  ///
  /// - Returns: the settings, and where each that was named is written.
  func read(
    _ sources: [SettingsSource], _ problems: inout ProblemList
  ) -> (settings: Target, places: [String: String]) {
    var (target, places) = (initial, [String: String]())
    for setting in settings {
      guard let written = sources.lazy.compactMap({ $0.values[setting.key] }).first else { continue }
      places[setting.key] = written.place
      problems.attempt(setting.key, at: written.place) { try setting.apply(written, to: &target) }
    }
    // A secret stands in `key` or in the file that `keyFile` names.
    for setting in settings where setting.isSecret && places[setting.key + "File"] != nil {
      guard let place = places[setting.key] else { continue }
      let reason = "\(setting.key)File is named as well; name one of the two"
      problems.add(ConfigurationError(setting.key, reason, place: place))
    }
    return (target, places)
  }

  /// The first setting without a default that is not named.
  func missing(in named: Set<String>) -> Setting<Target>? {
    settings.first { $0.isRequired && !named.contains($0.key) }
  }

  package func contains(_ key: String) -> Bool { settings.contains { $0.key == key } }
  func isGroup(_ key: String) -> Bool { settings.contains { $0.key.hasPrefix(key + ".") } }

  /// The table as data, for `tender config settings --json`.
  package var reports: [SettingReport] {
    settings.map {
      SettingReport(
        key: $0.key, values: $0.wanted, preset: $0.isRequired ? nil : $0.text(initial), isRequired: $0.isRequired,
        meaning: $0.meaning)
    }
  }

  /// The table in Markdown, as `docs/configuration.md` has it.
  package var page: String {
    let rows = settings.map { setting in
      let preset = setting.isRequired ? "required" : setting.text(initial).map { "`\($0)`" } ?? "none"
      return "| `\(setting.key)` | \(setting.wanted) | \(preset) | \(setting.meaning) |"
    }
    return (["| key | value | default | |", "|---|---|---|---|"] + rows).joined(separator: "\n") + "\n"
  }

  /// `; it is … now` for a former key, `; did you mean …?` when a name differs by few characters.
  ///
  /// - Parameter spelling: how the source writes a key.
  package func advice(for name: String, spelling: (String) -> String = { $0 }) -> String {
    if let new = renamed.first(where: { spelling($0.key) == name })?.value { return "; it is \(spelling(new)) now" }
    let nearest = Spelling.nearest(to: name, among: settings.map { spelling($0.key) })
    return nearest.map { "; did you mean \($0)?" } ?? ""
  }
}

extension Setting {
  fileprivate func apply(_ written: WrittenValue, to target: inout Target) throws {
    do throws(UnfitValue) { try set(&target, try written.texts(isList: isList)) } catch {
      throw ConfigurationError(key, "found \(error.found); write \(wanted)", place: written.place)
    }
  }
}

/// A setting as programs read it.
package struct SettingReport: Encodable, Sendable {
  package let key: String
  /// What it may be, in words.
  package let values: String
  /// Nil where there is none.
  package let preset: String?
  package let isRequired: Bool
  package let meaning: String

  private enum CodingKeys: String, CodingKey {
    case key, values, meaning
    case preset = "default"
    case isRequired = "required"
  }
}
