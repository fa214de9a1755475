/// Card numbers that stand where none belongs, such as in a wrong column of a merchant's file.
package enum CardNumbers {
  /// How many digits one has (ISO/IEC 7812-1).
  private static let lengths = 12...19

  /// The text with each number masked that may be a card's: of 12 to 19 digits with the right check digit, also with a space
  /// or a hyphen between digits. Its last four digits stay.
  package static func masked(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let runs = runs(in: bytes)
    var hidden = Set<Int>()
    for (index, first) in runs.enumerated() {
      var number: [Int] = []
      var end = first.lowerBound
      for run in runs[index...] {
        // The parts of one number follow one another after one separator.
        guard number.isEmpty || run.lowerBound == end + 1 && [0x20, 0x2D].contains(bytes[end]) else { break }
        number += run
        end = run.upperBound
        guard number.count <= lengths.upperBound else { break }
        if isCardNumber(number.map { bytes[$0] }) { hidden.formUnion(number.dropLast(4)) }
      }
    }
    guard !hidden.isEmpty else { return text }
    let shown = bytes.enumerated().flatMap { hidden.contains($0) ? Array("•".utf8) : [$1] }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Whether a name has a card number in it. Providers have names of digits as well: what they begin with no card's number
  /// does.
  package static func isIn(_ name: String) -> Bool {
    let parts = name.utf8.split { !isDigit($0) && !(0x61...0x7A).contains($0 | 0x20) }.map { Array($0) }
      .filter { $0.allSatisfy(isDigit) }
    let isWhole = name.utf8.allSatisfy { isDigit($0) || [0x20, 0x2D].contains($0) }
    return (parts.filter { $0.count > lengths.lowerBound } + (isWhole ? [parts.flatMap(\.self)] : [])).contains {
      isCardNumber($0) && ($0.first.map { (0x32...0x36).contains($0) } ?? false)
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The places of digits that follow one another.
  private static func runs(in bytes: [UInt8]) -> [Range<Int>] {
    var (runs, start): ([Range<Int>], Int?) = ([], nil)
    for (index, byte) in bytes.enumerated() {
      if isDigit(byte) {
        start = start ?? index
      } else if let begin = start {
        runs.append(begin..<index)
        start = nil
      }
    }
    if let start { runs.append(start..<bytes.count) }
    return runs
  }

  private static func isCardNumber(_ digits: [UInt8]) -> Bool {
    guard lengths.contains(digits.count) else { return false }
    let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
      let value = Int(digit.element & 15) * (digit.offset % 2 == 0 ? 1 : 2)
      return sum + value / 10 + value % 10
    }
    return sum % 10 == 0
  }
}
