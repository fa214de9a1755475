import TenderPayments

extension BERElement {
  /// UTCTime `YYMMDDHHMMSSZ` through 2049 and GeneralizedTime `YYYYMMDDHHMMSSZ` from then on, the forms that RFC 5280
  /// §4.1.2.5 and RFC 5652 §11.3 require; nil for anything else, fractions and offsets included.
  var time: Timestamp? {
    let yearDigits: Int
    switch tag {
    case BERTag.utcTime: yearDigits = 2
    case BERTag.generalizedTime: yearDigits = 4
    default: return nil
    }
    let text = content
    guard text.count == yearDigits + 11, text.last == UInt8(ascii: "Z"),
      text.dropLast().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return timestamp(yearDigits: yearDigits)
  }

  private func timestamp(yearDigits: Int) -> Timestamp? {
    let digits = content
    func number(_ offset: Int, _ count: Int) -> Int64 {
      let start = digits.startIndex + offset
      return (start..<start + count).reduce(0) { $0 * 10 + Int64(digits[$1] - 0x30) }
    }
    var year = number(0, yearDigits)
    if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
    guard yearDigits == 2 || year >= 2050 else { return nil }
    func field(_ index: Int) -> Int64 { number(yearDigits + 2 * index, 2) }
    return Timestamp(
      year: year, month: field(0), day: field(1), hour: field(2), minute: field(3), second: field(4))
  }
}
