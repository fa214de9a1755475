/// Joins neighbouring statements into one, by WITH: the server plans, starts and answers once.
///
/// All parts of a WITH see the rows as they were before it, and run in any order. So only statements are joined that
/// insert into or update different tables, each of which reads no table but its own. References between the tables are
/// checked at the end of the whole.
///
/// A demand becomes part of the statement: the server fails it unless one row has changed. So it may travel together
/// with the commit.
final class StatementJoiner {
  /// The only table that a statement reads or writes, by its text; nil where there are others, or the text does not say.
  private var tables: [StatementText: String?] = [:]
  private var texts: [Parts: String] = [:]

  /// What a division by zero says: the state of a demand that was not met.
  static let unmetDemand = "22012"

  private struct Parts: Hashable {
    let texts: [StatementText]
    /// The places of those that have to change one row.
    let demanded: [Int]
  }

  /// Joins neighbouring statements of different tables into one each.
  func join(_ statements: [PostgresStatement]) -> [PostgresStatement] {
    var joined: [PostgresStatement] = []
    var group: [PostgresStatement] = []
    var taken: Set<String> = []
    func end() {
      if !group.isEmpty { joined.append(one(group)) }
      (group, taken) = ([], [])
    }
    for statement in statements {
      guard let table = table(of: statement.statement) else {
        end()
        joined.append(statement)
        continue
      }
      if !taken.insert(table).inserted || group.count(where: { $0.demand != nil }) > 0 && statement.demand != nil {
        end()
        taken = [table]
      }
      group.append(statement)
    }
    end()
    return joined
  }

  private func table(of statement: SQLStatement) -> String? {
    let text = StatementText(statement.sql)
    if let known = tables[text] { return known }
    let table = statement.locking == .none && statement.times.isEmpty ? Self.onlyTable(of: statement.sql) : nil
    tables[text] = .some(table)
    return table
  }

  /// Nil as well for a statement that returns rows.
  static func onlyTable(of sql: String) -> String? {
    guard let match = sql.prefixMatch(of: #/(?:INSERT INTO|UPDATE) (\w+) /#) else { return nil }
    let rest = sql[match.range.upperBound...]
    let isAlone = rest.matches(of: #/\bFROM\b(?: (\w+)(?= WHERE\b))?/#).allSatisfy { $0.output.1 == match.output.1 }
    guard isAlone, !rest.contains(#/\b(?:JOIN|USING|RETURNING|WITH)\b/#) else { return nil }
    return String(match.output.1)
  }

  private func one(_ group: [PostgresStatement]) -> PostgresStatement {
    let demanded = group.indices.filter { group[$0].demand != nil }
    guard group.count > 1 || !demanded.isEmpty else { return group[0] }
    let parts = Parts(texts: group.map { StatementText($0.statement.sql) }, demanded: demanded)
    let text = texts[parts] ?? Self.text(group.map(\.statement), demanded)
    texts[parts] = text
    let values = group.flatMap(\.statement.values)
    return PostgresStatement(SQLStatement(text, values), demand: demanded.first.flatMap { group[$0].demand })
  }

  /// Every part numbers its values from 1; the whole numbers them on.
  private static func text(_ parts: [SQLStatement], _ demanded: [Int]) -> String {
    var offset = 0
    let tables = parts.enumerated().map { place, part in
      defer { offset += part.values.count }
      let text = part.sql.replacing(#/\$(\d+)/#) { "$\((Int($0.output.1) ?? 0) + offset)" }
      return "part\(place) AS (\(text)\(demanded.contains(place) ? " RETURNING 1" : ""))"
    }
    let check = demanded.first.map { "1 / CAST((SELECT count(*) FROM part\($0)) = 1 AS INTEGER)" } ?? "1"
    return "WITH \(tables.joined(separator: ", ")) SELECT \(check)"
  }
}
