/// A definition of the common SQL in PostgreSQL's words.
///
/// Texts are ordered by their bytes, as SQLite orders them.
///
/// A check of one column becomes a domain, the column's type. PostgreSQL reads a table's own checks from their stored
/// text at every statement that writes to the table, and evaluates them all; it keeps a domain's check ready, and
/// evaluates it for the columns that the statement sets. The check has the name that PostgreSQL would give it.
struct PostgresDefinition {
  /// The domains, then the definition itself.
  let statements: [String]

  init(_ sql: String) {
    var text = sql.replacing(#/\bTEXT\b/#, with: #"TEXT COLLATE "C""#)
    var domains: [String] = []
    if let table = sql.firstMatch(of: #/^\s*CREATE TABLE (\w+)/#)?.output.1 {
      text.replace(Self.checkedColumn) { column in
        let (all, name, type, rest, check) = column.output
        guard let check = Self.check(check, of: name) else { return String(all) }
        domains.append(
          "CREATE DOMAIN \(table)_\(name)_domain AS \(type) CONSTRAINT \(table)_\(name)_check CHECK (\(check))")
        return "\(name) \(table)_\(name)_domain\(rest)"
      }
    }
    statements = domains + [text]
  }

  /// A column's name, type, constraints and check, in which parentheses nest once.
  private static var checkedColumn: Regex<(Substring, Substring, Substring, Substring, Substring)> {
    #/
    (\w+)\ (TEXT\ COLLATE\ "C"|BIGINT)((?:\ PRIMARY\ KEY)?(?:\ NOT\ NULL)?(?:\ DEFAULT\ \S+)?)\s+
    CHECK\ \(((?:[^()']|'[^']*'|\((?:[^()']|'[^']*')*\))*)\)
    /#
  }

  /// The check of a domain, which calls the column `VALUE`; nil for a check that names another column too.
  private static func check(_ check: Substring, of column: Substring) -> String? {
    // Every second part is a text in quotes.
    let parts = check.split(separator: "'", omittingEmptySubsequences: false).enumerated()
    let names = parts.filter { $0.offset.isMultiple(of: 2) }
      .flatMap { $0.element.matches(of: #/\b[a-z_]+\b/#).map(\.output) }
    guard names.allSatisfy({ $0 == column }) else { return nil }
    return parts.map { place, part in
      place.isMultiple(of: 2) ? String(part.replacing(#/\b[a-z_]+\b/#, with: "VALUE")) : String(part)
    }.joined(separator: "'")
  }
}
