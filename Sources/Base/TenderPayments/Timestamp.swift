#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A moment: whole microseconds since 1970-01-01T00:00:00Z, as the store keeps time.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
  /// Since 1970-01-01T00:00:00Z.
  public let microseconds: Int64

  /// The moment that many microseconds after 1970-01-01T00:00:00Z.
  public init(microseconds: Int64) { self.microseconds = microseconds }
  /// The moment that many seconds after 1970-01-01T00:00:00Z; the first or the last one that there is, if it is beyond.
  public init(seconds: Int64) { microseconds = seconds.multipliedClamped(by: 1_000_000) }
  /// The moment of a date, to the second; the first or the last one that there is, if it is beyond.
  package init(_ date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    self.init(seconds: Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max))
  }

  /// Whole seconds, rounded down.
  public var seconds: Int64 { Self.floored(microseconds, 1_000_000) }
  /// Whole milliseconds.
  public var milliseconds: Int64 { microseconds / 1_000 }

  /// Whether the left moment is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool { left.microseconds < right.microseconds }

  /// The moment after a duration; before, if that is negative. There is none before the first or after the last.
  public func adding(_ duration: Duration) -> Timestamp {
    Timestamp(microseconds: microseconds.addingClamped(duration.microseconds))
  }

  /// The time from `earlier` to this moment; negative when `earlier` is later.
  public func since(_ earlier: Timestamp) -> Duration {
    .microseconds(microseconds.subtractingClamped(earlier.microseconds))
  }

  public init(from decoder: any Decoder) throws {
    microseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

extension Duration {
  /// Whole microseconds, or as many as 64 bits hold.
  public var microseconds: Int64 {
    components.seconds.multipliedClamped(by: 1_000_000).addingClamped(components.attoseconds / 1_000_000_000_000)
  }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 in UTC, to the second: `2026-11-21T10:00:00Z`. The year has four digits at least.
  public var description: String {
    let (year, month, day) = calendar
    let rest = seconds - Self.floored(seconds, 86_400) * 86_400
    let date = [Self.padded(year, 4), Self.padded(month, 2), Self.padded(day, 2)].joined(separator: "-")
    let time = [rest / 3_600, rest / 60 % 60, rest % 60].map { Self.padded($0, 2) }.joined(separator: ":")
    return "\(date)T\(time)Z"
  }

  private static func padded(_ value: Int64, _ digits: Int) -> String {
    let text = String(value.magnitude)
    return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// Reads `YYYY-MM-DDThh:mm:ss`, perhaps with a fraction of a second, and `Z` or an offset from UTC (RFC 3339, section
  /// 5.6). What the fraction has beyond microseconds is dropped. Nil before 1970, which no payment precedes.
  public init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard (20...64).contains(bytes.count) else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      var value: Int64 = 0
      for byte in bytes[range] {
        guard (0x30...0x39).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 0x30)
      }
      return value
    }
    let fixed: [(Int, Character)] = [(4, "-"), (7, "-"), (13, ":"), (16, ":")]
    guard fixed.allSatisfy({ bytes[$0.0] == $0.1.asciiValue }), bytes[10] | 0x20 == UInt8(ascii: "t"),
      let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19),
      let local = Timestamp(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
    else { return nil }
    let fraction = bytes[19...].prefix { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }
    var micros: Int64 = 0
    if !fraction.isEmpty {
      guard fraction.first == UInt8(ascii: "."), fraction.count > 1,
        let digits = number(20..<min(fraction.endIndex, 26))
      else { return nil }
      micros = digits
      for _ in 0..<max(0, 7 - fraction.count) { micros *= 10 }
    }
    guard let east = Self.secondsEast(bytes[fraction.endIndex...]) else { return nil }
    let moment = local.microseconds + micros - east * 1_000_000
    guard moment >= 0, moment < Self.years * 1_000_000 else { return nil }
    self.init(microseconds: moment)
  }

  /// Seconds from 1970 to the year 10000, which has a digit too many.
  private static let years: Int64 = 253_402_300_800

  /// - Parameter zone: `Z`, or an offset as `+02:00`.
  private static func secondsEast(_ zone: ArraySlice<UInt8>) -> Int64? {
    guard let sign = zone.first else { return nil }
    if sign | 0x20 == UInt8(ascii: "z") { return zone.count == 1 ? 0 : nil }
    let parts = String(decoding: zone.dropFirst(), as: UTF8.self).split(
      separator: ":", omittingEmptySubsequences: false)
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), zone.count == 6, parts.count == 2,
      parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let hours = Int64(parts[0]), let minutes = Int64(parts[1]), hours < 24, minutes < 60
    else { return nil }
    return (sign == UInt8(ascii: "-") ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  /// A moment of the proleptic Gregorian calendar in UTC; nil when a field is out of range.
  public init?(year: Int64, month: Int64, day: Int64, hour: Int64 = 0, minute: Int64 = 0, second: Int64 = 0) {
    // Checked before any arithmetic: the fields may come from a request header.
    guard (0...9_999).contains(year), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
      (0..<60).contains(minute), (0..<60).contains(second)
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    guard Self.civil(fromDays: days) == (year, month, day) else { return nil }
    self.init(seconds: days * 86_400 + hour * 3_600 + minute * 60 + second)
  }

  /// Days since 1970-01-01, counting years from March so that the leap day comes last.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let y = month <= 2 ? year - 1 : year
    let era = (y >= 0 ? y : y - 399) / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The calendar fields in UTC.
  public var calendar: (year: Int64, month: Int64, day: Int64) {
    Self.civil(fromDays: Self.floored(seconds, 86_400))
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}

extension Timestamp {
  /// With what every identifier begins that is made at this time, see ``RandomBytes/timeOrderedID(_:)``: the
  /// identifiers before it are older.
  package var idPrefix: String {
    Hex.encode((0..<6).map { UInt8(truncatingIfNeeded: max(0, milliseconds) >> (40 - 8 * $0)) })
  }

  /// When an identifier was made; nil for one that does not begin with its time.
  package init?(ofID id: String) {
    guard id.utf8.count >= 12, let bytes = Hex.decode(String(id.prefix(12))) else { return nil }
    self.init(microseconds: bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) } * 1_000)
  }
}

/// The source of the time of day. Injected everywhere, so that tests can control it.
public struct WallClock: Sendable {
  /// The time of day.
  public let now: @Sendable () -> Timestamp
  /// The machine's time of day, also where a simulation has moved the clock. By it other machines' messages are dated.
  package let machine: @Sendable () -> Timestamp

  /// A clock that returns the function's value.
  public init(now: @escaping @Sendable () -> Timestamp) { (self.now, machine) = (now, now) }

  /// - Parameter ahead: by how much it is ahead of the other clock.
  package init(ahead: @escaping @Sendable () -> Duration, of other: WallClock) {
    now = { other.now().adding(ahead()) }
    machine = other.machine
  }

  /// The operating system's clock.
  public static let system = WallClock {
    // The clock of the machine is no number from outside, and 64 bits hold 292,000 years of it.
    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }
}

/// A source of random bytes.
public struct RandomBytes: Sendable {
  /// Returns `count` random bytes.
  public let next: @Sendable (_ count: Int) -> [UInt8]
  /// A source that returns the function's bytes.
  public init(next: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.next = next }

  /// The operating system's generator.
  public static let system = RandomBytes { count in
    // Each number costs a system call, so eight bytes are taken from each.
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 7)
    while bytes.count < count { withUnsafeBytes(of: generator.next() as UInt64) { bytes.append(contentsOf: $0) } }
    return Array(bytes.prefix(count))
  }

  /// `bytes` random bytes as lowercase hex.
  public func hex(_ bytes: Int) -> String { Hex.encode(next(bytes)) }

  /// A random UUID (RFC 9562, version 4).
  package func uuid() -> String {
    var bytes = next(16)
    (bytes[6], bytes[8]) = (bytes[6] & 0x0F | 0x40, bytes[8] & 0x3F | 0x80)
    return Hex.uuid(Hex.encode(bytes))
  }

  /// An identifier that sorts by time: 48 bits of milliseconds, then 80 random bits, as 32 hex digits.
  public func timeOrderedID(_ clock: WallClock) -> String {
    clock.now().idPrefix + hex(10)
  }
}
