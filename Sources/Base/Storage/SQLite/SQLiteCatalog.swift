extension SQLiteSession {
  func connections(named prefix: String, without suffix: String?) -> Int { 0 }

  func tables() throws -> [TableShape] {
    let tables = "sqlite_schema AS t JOIN"
    let ours = "WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
    return try TableShape.all(
      rows(
        "SELECT t.name AS place, c.name, c.type, c.pk AS key FROM \(tables) pragma_table_info(t.name) AS c \(ours)",
        [], locking: .none),
      rows(
        """
        SELECT t.name AS place, k."table" AS target FROM \(tables) pragma_foreign_key_list(t.name) AS k \(ours)
        """, [], locking: .none))
  }

  func serverFacts() -> DatabaseFacts? { nil }
}
