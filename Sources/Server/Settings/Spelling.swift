/// Finds the name that was meant.
package enum Spelling {
  /// - Returns: the name that differs by the fewest characters, three at most and no more than half, capitals aside.
  package static func nearest(to word: String, among names: some Collection<String>) -> String? {
    let (typed, length) = (word.lowercased(), word.count)
    let ranked = names.filter { abs($0.count - length) <= 3 }.map {
      (name: $0, distance: distance(typed, $0.lowercased()))
    }
    return ranked.filter { $0.distance <= min(3, length / 2) }.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?
      .name
  }

  /// How many characters must be put in, taken out or changed (Levenshtein).
  private static func distance(_ word: String, _ other: String) -> Int {
    let target = Array(other)
    var row = Array(0...target.count)
    for (index, character) in word.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in target.indices {
        let change = diagonal + (character == target[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(change, row[column] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
