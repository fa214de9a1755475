import Foundation
import Storage

/// One setting: its key, what it accepts, what it is unless it is named, and its line in `docs/configuration.md`.
///
/// Everything about settings follows from a ``SettingsTable`` of these: reading, checking, the names of variables, the
/// advice after a misspelling, and the documentation.
package struct Setting<Target: Sendable>: Sendable {
  /// As in the file, with its group: `store.path`.
  package let key: String
  package let isList: Bool
  /// Whether the value is kept out of every message.
  package let isSecret: Bool
  /// Whether there is no default.
  package let isRequired: Bool
  /// A value that is accepted, as YAML.
  package let example: String
  /// The object of “write …”.
  let wanted: String
  package let meaning: String
  /// The value of a target as YAML; nil when it has none.
  package let text: @Sendable (Target) -> String?
  let set: @Sendable (inout Target, [String]) throws(UnfitValue) -> Void

  /// - Parameters:
  ///   - meaning: one sentence or phrase for `docs/configuration.md`.
  ///   - get: the value of a target; the default is read with it too.
  ///   - set: writes the value; it may also write what later settings default to.
  init<Value>(
    _ key: String, _ type: SettingType<Value>, _ meaning: String, isRequired: Bool = false,
    get: @escaping @Sendable (Target) -> Value?, set: @escaping @Sendable (inout Target, Value) -> Void
  ) {
    (self.key, self.meaning, self.isRequired) = (key, meaning, isRequired)
    (isList, isSecret, example, wanted) = (type.isList, type.isSecret, type.example, type.wanted)
    text = { target in get(target).map(type.text) }
    self.set = { target, texts throws(UnfitValue) in set(&target, try type.read(texts)) }
  }

  init<Value>(
    _ key: String, _ type: SettingType<Value>, _ path: any WritableKeyPath<Target, Value> & Sendable, _ meaning: String
  ) {
    self.init(key, type, meaning, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// A setting that may have no value.
  init<Value>(
    _ key: String, _ type: SettingType<Value>, _ path: any WritableKeyPath<Target, Value?> & Sendable,
    _ meaning: String, isRequired: Bool = false
  ) {
    self.init(
      key, type, meaning, isRequired: isRequired, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// The name of its environment variable: `store.path` is `TENDER_STORE_PATH`, `publicURL` is `TENDER_PUBLIC_URL`.
  package var variable: String { Self.variable(key) }

  static func variable(_ key: String) -> String {
    var name = SettingsSource.variablePrefix
    var previous: Character = "."
    for character in key {
      if character.isUppercase && !previous.isUppercase && previous != "." { name.append("_") }
      name.append(character == "." ? "_" : Character(character.uppercased()))
      previous = character
    }
    return name
  }
}

/// What a setting accepts, and how its texts become a value.
struct SettingType<Value: Sendable>: Sendable {
  /// The object of “write …”.
  let wanted: String
  /// A value that is accepted, as YAML.
  let example: String
  var isList = false
  var isSecret = false
  /// Gets one text, or those of a list; each is printable and not empty.
  let read: @Sendable ([String]) throws(UnfitValue) -> Value
  /// The value as YAML.
  let text: @Sendable (Value) -> String
}

/// A text that is no value of the setting.
struct UnfitValue: Error {
  /// The object of “there is …”; never a secret.
  let found: String

  init(found: String) { self.found = found }
  init(_ text: String) { found = "“\(text)”" }
}

extension SettingType {
  /// One text, which `read` turns into a value or refuses.
  static func one(
    _ wanted: String, as example: String, read: @escaping @Sendable (String) -> Value?,
    text: @escaping @Sendable (Value) -> String
  ) -> SettingType {
    SettingType(
      wanted: wanted, example: example,
      read: { texts throws(UnfitValue) in
        guard let value = read(texts[0]) else { throw UnfitValue(texts[0]) }
        return value
      }, text: text)
  }

  /// A list whose elements differ from one another.
  ///
  /// - Parameters:
  ///   - minimum: how many it must hold.
  ///   - maximum: how many it may hold, at most 300.
  static func list<Element: Hashable>(
    of element: SettingType<Element>, atLeast minimum: Int = 0, atMost maximum: Int = 300
  ) -> SettingType where Value == [Element] {
    SettingType(
      wanted: "a list such as [\(element.example)]" + (maximum == 300 ? "" : ", at most \(maximum)")
        + "; each is \(element.wanted)",
      example: "[\(element.example)]", isList: true,
      read: { texts throws(UnfitValue) in
        guard texts.count <= maximum else { throw UnfitValue(found: "a list of \(texts.count)") }
        var (values, known) = ([Element](), Set<Element>())
        for text in texts {
          let value = try element.read([text])
          guard known.insert(value).inserted else { throw UnfitValue(found: "“\(text)” twice") }
          values.append(value)
        }
        guard values.count >= minimum else { throw UnfitValue(found: "an empty list") }
        return values
      }, text: { "[\($0.map(element.text).joined(separator: ", "))]" })
  }

  /// One of the names of an enumeration.
  static func choice(of values: [Value]) -> SettingType where Value: RawRepresentable<String> {
    .one(
      "one of: " + values.map(\.rawValue).joined(separator: ", "), as: values.first?.rawValue ?? "",
      read: { name in values.first { $0.rawValue == name } }, text: { $0.rawValue })
  }
}

extension SettingType<String> {
  static func text(
    _ wanted: String, as example: String, where fits: @escaping @Sendable (String) -> Bool = { _ in true }
  ) -> SettingType {
    .one(wanted, as: example, read: { fits($0) ? $0 : nil }, text: { $0 })
  }

  static func name(among names: [String]) -> SettingType {
    .text("one of: " + names.joined(separator: ", "), as: names.first ?? "") { names.contains($0) }
  }

  static let file = text("the path of a file", as: "/etc/tender/file")
  /// An IPv6 address may stand in brackets.
  static let host = one(
    "a host name or an address", as: "127.0.0.1",
    read: { HostName.isHost($0) ? $0.trimmingCharacters(in: ["[", "]"]) : nil }, text: { $0 })
  static let folder = text("the path of a folder", as: "/etc/tender/folder")

  /// `scheme://host[:port]`, to which paths are joined.
  static let address = one(
    "an address such as http://localhost:8402", as: "http://localhost:8402",
    read: { text in
      guard let url = ServiceAddress(text) else { return nil }
      return url.text
    }, text: { $0 })

  /// The secret itself, in a variable. Messages leave it out.
  static let secret = SettingType(
    wanted: "a secret of \(SharedSecrets.minimumBytes) bytes or more; better in the file that the setting with `File` "
      + "at its end names",
    example: "0123456789abcdef", isSecret: true,
    read: { texts throws(UnfitValue) in try secret(texts[0]) }, text: { _ in "•••" })

  /// A database on PostgreSQL. Messages leave it out, as it may hold a password.
  static let databaseAddress = SettingType(
    wanted: "an address such as postgres://tender@db.example.com/tender; the password belongs into store.passwordFile",
    example: "postgres://tender@127.0.0.1/tender", isSecret: true,
    read: { texts throws(UnfitValue) in
      guard StorePlace.isAddress(texts[0]) else { throw UnfitValue(found: "something else") }
      do throws(StorageError) { try PostgresSettings(address: texts[0]).check() } catch {
        if case .connection(let reason) = error { throw UnfitValue(found: "an address that cannot be used: \(reason)") }
        throw UnfitValue(found: "an address that cannot be used")
      }
      return texts[0]
    }, text: { _ in "•••" })

  fileprivate static func secret(_ text: String) throws(UnfitValue) -> String {
    guard text.utf8.count >= SharedSecrets.minimumBytes else {
      throw UnfitValue(found: "a secret of \(text.utf8.count) bytes")
    }
    return text
  }
}

/// A file that holds a secret, and what it held when it was read. Spaces and line ends around it do not count.
struct SecretFile: Sendable {
  let path: String
  let secret: String

  /// - Parameter isPassword: whether others chose it; it may be short then, and its spaces count.
  init(_ path: String, isPassword: Bool = false) throws(UnfitValue) {
    let text: String
    do throws(PrivateFileError) { text = try PrivateFile.text(path) } catch {
      throw UnfitValue(found: "“\(error.path)”, which \(error.reason)")
    }
    self.path = path
    guard isPassword else {
      secret = try SettingType<String>.secret(text.trimmingCharacters(in: .whitespacesAndNewlines))
      return
    }
    secret = text.trimmingCharacters(in: .newlines)
    guard !secret.isEmpty else { throw UnfitValue(found: "“\(path)”, which is empty") }
  }
}

extension SettingType<SecretFile> {
  static let secretFile = SettingType(
    wanted: "the path of a file with a secret of \(SharedSecrets.minimumBytes) bytes or more",
    example: "/run/secrets/acquirer", read: { texts throws(UnfitValue) in try SecretFile(texts[0]) },
    text: { _ in "•••" })
}

extension SettingType<[String]> {
  /// A program with its arguments.
  static let command = SettingType(
    wanted: "a program's whole path and its arguments, as a list, which no shell reads: "
      + "[/usr/bin/vault, read, -field=key, secret/tender]; for a line of a shell [/bin/sh, -c, \"…\"]",
    example: "[/usr/bin/vault,read,-field=key,secret/tender]", isList: true,
    read: { words throws(UnfitValue) in
      guard let program = words.first else { throw UnfitValue(found: "an empty list") }
      guard program.utf8.first == UInt8(ascii: "/") else { throw UnfitValue(program) }
      return words
    }, text: { "[\($0.joined(separator: ", "))]" })
}

extension SettingType<Int> {
  /// - Parameter note: what the operator should know of a number in the range.
  static func number(_ range: ClosedRange<Int>, _ note: String = "") -> SettingType {
    let bounds =
      range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
    return .one(
      "a whole number, \(bounds)" + (note.isEmpty ? "" : "; \(note)"), as: "\(range.lowerBound)",
      read: { text in
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text) else { return nil }
        return range.contains(number) ? number : nil
      }, text: { "\($0)" })
  }
}

extension SettingType<Bool> {
  static let flag = one(
    "true or false", as: "true", read: { ["true": true, "false": false][$0] }, text: { "\($0)" })
}
