/// The names of a result's columns, shared by all of its rows.
///
/// A row of thirty columns is read column by column, for each statement that returns one. So a name is found by a table
/// that costs little to make and needs no more of a name than its length and three of its bytes.
final class Columns: Sendable {
  private let names: [String]
  /// Places of names, each at its hash or the next free slot; -1 is free. At least half of it is.
  private let table: [Int16]

  init(_ names: [String]) {
    self.names = names
    var table = [Int16](repeating: -1, count: Self.size(for: names.count))
    for (place, name) in names.enumerated() {
      var slot = Self.hash(name) & (table.count - 1)
      while table[slot] >= 0 { slot = (slot + 1) & (table.count - 1) }
      table[slot] = Int16(place)
    }
    self.table = table
  }

  /// The first of several with the same name.
  func place(of name: String) -> Int? {
    var slot = Self.hash(name) & (table.count - 1)
    while table[slot] >= 0 {
      let place = Int(table[slot])
      if names[place] == name { return place }
      slot = (slot + 1) & (table.count - 1)
    }
    return nil
  }

  /// A power of two.
  private static func size(for count: Int) -> Int {
    var size = 8
    while size < 2 * count { size *= 2 }
    return size
  }

  private static func hash(_ name: String) -> Int {
    var name = name
    return name.withUTF8 { bytes in
      guard let first = bytes.first, let last = bytes.last else { return 0 }
      return bytes.count &+ 7 &* Int(first) &+ 31 &* Int(last) &+ 5 &* Int(bytes[bytes.count / 2])
    }
  }
}
