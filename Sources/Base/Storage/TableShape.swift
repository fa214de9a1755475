/// A table as the engine's own catalog describes it.
package struct TableShape: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    let name: String
    let type: SQLType
    /// Its place in the primary key, from 1; nil when it is no part of it.
    let keyPlace: Int?
  }

  let name: String
  /// By name: the engines may list them differently.
  let columns: [Column]
  /// The tables that its foreign keys name.
  let references: Set<String>

  /// The columns of the primary key, in its order.
  var key: [String] {
    columns.compactMap { column in column.keyPlace.map { (place: $0, name: column.name) } }
      .sorted { $0.place < $1.place }.map(\.name)
  }

  /// - Parameters:
  ///   - columns: rows with `place` (the table), `name`, `type` and `key`, 0 where it is no part of the key.
  ///   - references: rows with `place` and `target`.
  static func all(_ columns: [Row], _ references: [Row]) throws -> [TableShape] {
    let targets = Dictionary(
      grouping: try references.map { (try $0.text("place"), try $0.text("target")) }, by: \.0)
    return try Dictionary(grouping: columns) { try $0.text("place") }.sorted { $0.key < $1.key }.map { name, rows in
      TableShape(
        name: name, columns: try rows.map(Column.init).sorted { $0.name < $1.name },
        references: Set(targets[name, default: []].map(\.1)))
    }
  }

  /// Every table after the tables that it references.
  static func ordered(_ tables: [TableShape]) throws -> [TableShape] {
    var (ordered, rest, known): ([TableShape], [TableShape], Set<String>) = ([], tables, [])
    while !rest.isEmpty {
      let next = rest.filter { $0.references.subtracting([$0.name]).isSubset(of: known) }
      guard !next.isEmpty else { throw StorageError.other("tables reference each other in a circle") }
      ordered += next
      known.formUnion(next.map(\.name))
      rest.removeAll { known.contains($0.name) }
    }
    return ordered
  }
}

extension TableShape.Column {
  fileprivate init(_ row: Row) throws {
    name = try row.text("name")
    type = try Self.type(try row.text("type"))
    let place = Int(try row.integer("key"))
    keyPlace = place == 0 ? nil : place
  }

  private static func type(_ name: String) throws -> SQLType {
    switch name.lowercased() {
    case "integer", "bigint": .integer
    case "text": .text
    case "blob", "bytea": .blob
    default: throw StorageError.column(name)
    }
  }
}

extension Database {
  /// The names of the store's tables.
  package func tableNames() async throws -> [String] { try await read { try $0.tables().map(\.name) } }
}
