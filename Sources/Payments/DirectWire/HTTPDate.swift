package import TenderPayments

/// The date of HTTP headers, RFC 1123: `Fri, 06 Jun 2014 13:39:43 GMT`.
package enum HTTPDate {
  private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  package static func text(_ time: Timestamp) -> String {
    let (year, month, day) = time.calendar
    let days = floored(time.seconds, 86_400)
    let rest = time.seconds - days * 86_400
    // 1970-01-01 was a Thursday.
    let weekday = weekdays[Int(days - floored(days, 7) * 7)]
    let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map(two).joined(separator: ":")
    return "\(weekday), \(two(day)) \(months[Int(month) - 1]) \(year) \(clock) GMT"
  }

  /// Reads that form, in which some clients write `UTC` or `+0000` for `GMT`, and the two older ones of RFC 9110, section
  /// 5.6.7: `Friday, 06-Jun-14 13:39:43 GMT` and `Fri Jun  6 13:39:43 2014`.
  package static func parse(_ text: String) -> Timestamp? { read(text) ?? rewritten(text).flatMap(read) }

  /// An older form in the words of the current one.
  private static func rewritten(_ text: String) -> String? {
    let words = text.split(separator: " ")
    switch words.count {
    case 4:
      let parts = words[1].split(separator: "-")
      guard parts.count == 3, parts[2].utf8.count == 2, let year = Int64(parts[2]),
        longWeekdays.contains(where: { words[0].utf8.elementsEqual("\($0),".utf8) })
      else { return nil }
      return
        "\(words[0].prefix(3)), \(parts[0]) \(parts[1]) \((year < 70 ? 2_000 : 1_900) + year) \(words[2]) \(words[3])"
    case 5:
      guard let day = Int64(words[2]) else { return nil }
      return "\(words[0]), \(two(day)) \(words[1]) \(words[4]) \(words[3]) GMT"
    default: return nil
    }
  }

  private static let longWeekdays = ["Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun"].map { $0 + "day" }

  private static func read(_ text: String) -> Timestamp? {
    let fields = text.split(separator: " ", omittingEmptySubsequences: false)
    guard fields.count == 6, ["GMT", "UTC", "+0000"].contains(fields[5]) else { return nil }
    let clock = fields[4].split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard clock.count == 3, let hour = clock[0], let minute = clock[1], let second = clock[2],
      let day = Int64(fields[1]), let year = Int64(fields[3]), (1970...9999).contains(year),
      let month = months.firstIndex(of: String(fields[2])),
      let time = Timestamp(
        year: year, month: Int64(month) + 1, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    // Whatever is spelled in a second way, the weekday among it, does not come out the same.
    return Self.text(time).dropLast(3) == text.dropLast(fields[5].count) ? time : nil
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
