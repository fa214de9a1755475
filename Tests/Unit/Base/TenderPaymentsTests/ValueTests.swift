import Foundation
import Testing

import TenderPayments

@Suite struct `Secrets` {
  let dpan = DPAN("4761120010000492")!
  let cryptogram = Cryptogram(base64: "AgAAAAAAAIR8CQrXcIhbQAAAAAA=")

  @Test func `print masked, however they are printed`() {
    let token = NetworkToken(dpan: dpan, expiry: CardExpiry(applePayDate: "301231")!, cryptogram: cryptogram, eci: "05")
    var dumped = ""
    dump(token, to: &dumped)
    for text in ["\(token)", String(reflecting: token), dumped, "\(PaymentInstrument.network(token))"] {
      #expect(!text.contains("476112001000") && !text.contains("AgAAAA"))
    }
    #expect("\(dpan)" == "•••• 0492")
  }

  @Test(arguments: ["", "123", "4761 1200", "47611200100004920000", "４７６１１２００１００００４９２"])
  func `that are no account number are refused`(text: String) {
    #expect(DPAN(text) == nil)
  }
}

@Suite struct `Encodings` {
  @Test(arguments: ["", "\u{301}", "\u{200D}", "\u{FE0F}", "a"])
  func `a mark is escaped whatever stands behind it, and nothing else is changed`(_ behind: String) {
    let marks = ["<", ">", "&", "\"", "'"].map { $0 + behind }.joined()
    let escaped = ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"].map { $0 + behind }.joined()
    #expect(Array(marks.escaped(.markup).utf8) == Array(escaped.utf8))
    let plain = "Zoe\u{308} 寿司 👩‍🍳\r\n"
    #expect(Array((plain + "\"" + behind).escaped(["\"": "\"\""]).utf8) == Array((plain + "\"\"" + behind).utf8))
    #expect(Array(plain.escaped(.markup).utf8) == Array(plain.utf8))
  }

  @Test(arguments: [([], ""), ([0], "AA=="), ([0, 1], "AAE="), ([255, 254, 253], "//79")] as [([UInt8], String)])
  func `base64 is read and written in its one form`(bytes: [UInt8], text: String) {
    #expect(Base64.encode(bytes) == text)
    #expect(Base64.decode(text) == bytes)
  }

  @Test(arguments: ["AA", "AA=", "AB==", "AAF=", "A===", "====", "_-79", "AA==\n", " AA==", "AA==AA=="])
  func `base64 in another form is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `base64 has 64 digits, and at every place another character is refused`() {
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for character in UInt8.min...127 {
      for place in 0..<8 {
        var text = Array("AAAAAAAA".utf8)
        text[place] = character
        let decoded = Base64.decode(String(decoding: text, as: UTF8.self))
        #expect((decoded != nil) == (alphabet.contains(character) || character == UInt8(ascii: "=") && place == 7))
      }
    }
    let every = (0..<256).map { UInt8($0) }
    #expect(Base64.decode(Base64.encode(every)) == every)
    #expect(Base64.decode("ÄAA") == nil)
  }

  @Test func `hex of either case is read, odd lengths and other characters are not`() {
    #expect(Hex.decode("00fFa1") == [0, 255, 161])
    #expect(Hex.decode("abc") == nil)
    #expect(Hex.decode("0g") == nil)
    #expect(Hex.encode([0, 255, 161]) == "00ffa1")
  }
}

@Suite struct `Moments` {
  @Test(arguments: [
    "1970-01-01T00:00:00Z", "2018-01-26T13:55:18Z", "2024-02-29T23:59:59Z", "2038-01-19T03:14:08Z",
  ])
  func `are read and written as RFC 3339`(text: String) throws {
    #expect(try #require(Timestamp(rfc3339: text)).description == text)
  }

  @Test(arguments: [
    "2023-02-29T00:00:00Z", "2023-13-01T00:00:00Z", "2023-01-01 00:00:00Z", "2023-01-01T00:00:00",
    "2023-01-01T24:00:00Z", "", "2023-01-01T00:00:00+2:00", "2023-01-01T00:00:00+24:00", "2023-01-01T00:00:00-02:60",
    "2023-01-01T00:00:00+0200", "2023-01-01T00:00:00ZZ", "2023-01-01T00:00:00.Z", "2023-01-01T00:00:00.5",
    "2023-01-01T00:00:00+02:00:00", "1970-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
  ])
  func `that do not exist are refused`(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test(arguments: [Int64.min, -1, 0, 32, 10_000, .max]) func `have only fields of the calendar`(value: Int64) {
    #expect(Timestamp(year: 2026, month: 11, day: value) == nil)
    #expect(Timestamp(year: 2026, month: value == 0 ? 13 : value, day: 1) == nil)
    #expect(Timestamp(year: value == 0 || value == 32 ? -1 : value, month: 1, day: 1) == nil)
    #expect(Timestamp(year: 2026, month: 11, day: 1, hour: value == 0 ? 24 : value) == nil)
  }

  /// Checks the text of every day and of its last microsecond.
  @Test func `from 1970 to 9999 is read as it was written`() {
    let day: Int64 = 86_400
    let all = stride(from: Int64(0), to: 2_932_897 * day, by: 61 * Int(day) - 7).map { Timestamp(seconds: $0) }
    for time in all {
      let last = time.adding(.microseconds(999_999))
      #expect(Timestamp(rfc3339: time.description) == time)
      #expect(last.description == time.description && last.seconds == time.seconds)
    }
    #expect(all.last?.calendar.year == 9_999)
  }

  @Test(arguments: ["1969-12-31T23:59:59Z", "0999-01-01T00:00:00Z", "0000-01-01T00:00:00Z"])
  func `before 1970 is not read`(_ text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test(arguments: [
    "2026-11-28T02:30:00+02:30", "2026-11-27T19:00:00.123456789-05:00", "2026-11-28t00:00:00z",
    "2026-11-28T00:00:00.000000000000-00:00",
  ])
  func `are read with any offset and any fraction`(text: String) {
    #expect(Timestamp(rfc3339: text)?.description == "2026-11-28T00:00:00Z")
  }

  @Test func `of a year with fewer than four digits is written with four`() throws {
    let time = try #require(Timestamp(year: 999, month: 2, day: 3))
    #expect(time.description == "0999-02-03T00:00:00Z")
    #expect(Timestamp(microseconds: -1).description == "1969-12-31T23:59:59Z")
  }

  @Test func `keep their fraction to the microsecond`() {
    #expect(Timestamp(rfc3339: "1970-01-01T00:00:01.25Z")?.microseconds == 1_250_000)
    #expect(Timestamp(rfc3339: "1970-01-01T01:00:01.2500019+01:00")?.microseconds == 1_250_001)
    #expect(Timestamp(rfc3339: "9999-12-31T23:59:59.999999Z")?.description == "9999-12-31T23:59:59Z")
  }

  @Test func `give identifiers that sort by time`() {
    let early = RandomBytes.system.timeOrderedID(WallClock { Timestamp(seconds: 1_000) })
    let late = RandomBytes.system.timeOrderedID(WallClock { Timestamp(seconds: 1_001) })
    #expect(early < late && early.utf8.count == 32)
  }
}

@Suite struct `A PEM text` {
  private static let body = Base64.encode(Array(0..<60))

  /// What this thread has used of a processor.
  private static func threadTime() -> Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test(arguments: [
    "-----BEGIN A-----\n\(body)\n-----END A-----\n", "-----BEGIN A-----\(body)-----END A-----",
    "\u{FEFF}-----BEGIN A-----\r\n\(body.prefix(40)) \r\n \(body.dropFirst(40))\t\r\n-----END A-----",
    "Bag Attributes\n  friendlyName: a-b\n-----BEGIN A-----\n\n\(body)\n\n-----END A----- \n",
    "-----BEGIN A----- \(body.prefix(8)) \(body.dropFirst(8)) -----END A-----",
    "-----BEGIN A-----\\n\(body.prefix(8))\\n\(body.dropFirst(8))\\n-----END A-----\\n",
    #"{"key":"-----BEGIN A-----\r\n"# + body + #"\\n-----END A-----\r\n"}"#,
  ])
  func `is read whatever an editor or a form made of its lines`(text: String) throws {
    let blocks = try #require(PEM.blocks(text))
    #expect(blocks.map(\.label) == ["A"] && blocks[0].bytes == Array(0..<60))
  }

  @Test func `holds several blocks, in their order`() throws {
    let text = ["B", "A B", "B"].map { "-----BEGIN \($0)-----\nAA==\n-----END \($0)-----\n" }.joined(
      separator: "between\n")
    let blocks = try #require(PEM.blocks(text))
    #expect(blocks.map(\.label) == ["B", "A B", "B"] && blocks.allSatisfy { $0.bytes == [0] })
    #expect(PEM.blocks("no block")?.isEmpty == true)
  }

  @Test(arguments: [
    "-----BEGIN A-----\nAA==\n", "-----BEGIN A-----\nAA==\n-----END B-----", "AA==\n-----END A-----",
    "-----BEGIN A-----\n-----BEGIN A-----\nAA==\n-----END A-----", "-----BEGIN A", "-----BEGIN A\n-----END A-----",
    "-----BEGIN A-----\nAA==\n-----END A-----\n-----END A-----",
  ])
  func `that is not ended is none`(text: String) { #expect(PEM.blocks(text) == nil) }

  @Test func `has labels of at most 64 bytes`() throws {
    func text(_ label: String) -> String { "-----BEGIN \(label)-----\n\(Self.body)\n-----END \(label)-----\n" }
    let longest = String(repeating: "A", count: 64)
    #expect(try #require(PEM.blocks(text(longest))).map(\.label) == [longest])
    #expect(PEM.blocks(text(longest + "A")) == nil)
  }

  /// In processor time: one that copied or compared a label for each place where it may end would take hours.
  @Test(arguments: [
    "-----BEGIN " + String(repeating: "A", count: 1 << 18) + "-----\n\(body)\n-----END A-----\n",
    "-----BEGIN " + String(repeating: "-----BEGIN ", count: 1 << 15),
    String(repeating: "-----BEGIN \(String(repeating: "A", count: 65))-----\n-----END A-----\n", count: 1 << 11),
    String(repeating: "-----BEGIN " + String(repeating: "-", count: 4), count: 1 << 14),
  ])
  func `whose labels are beyond that is refused in a time that grows no faster than it`(text: String) {
    let before = Self.threadTime()
    #expect(PEM.blocks(text) == nil)
    #expect(Self.threadTime() - before < .seconds(5))
  }
}
