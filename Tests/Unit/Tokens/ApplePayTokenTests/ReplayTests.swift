import ApplePayToken
import Crypto
import Foundation
import StrictJSON
import Synchronization
import TenderPayments
import Testing

@Suite struct `A payment token pays once` {
  private let arrival = TestTokenBuilder.Parts.arrival

  private func verified(_ bytes: [UInt8]) throws -> VerifiedPaymentToken {
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    return try TokenVerifier(trust: trust).verify(EncryptedPaymentToken(bytes: bytes), at: arrival)
  }

  private func fresh() throws -> VerifiedPaymentToken {
    var builder = try TestTokenBuilder()
    builder.transactionID = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    return try verified(builder.build().bytes)
  }

  @Test func `the second time it is refused`() throws {
    let window = ReplayWindow()
    let token = try fresh()
    try window.spend(token, at: arrival)
    #expect(try refusal { try window.spend(token, at: arrival) } == .tokenAlreadyUsed)
    try window.spend(fresh(), at: arrival)
    #expect(window.count == 2)
  }

  /// Every re-encoding that leaves the token's signature valid.
  @Test func `another encoding is the same token`() throws {
    let parts = try TestTokenBuilder().build()
    let window = ReplayWindow()
    try window.spend(verified(parts.bytes), at: arrival)
    for (name, bytes) in try spellings(of: parts) {
      let token = try verified(bytes)
      #expect(try refusal { try window.spend(token, at: arrival) } == .tokenAlreadyUsed, "\(name)")
    }
    #expect(window.count == 1)
  }

  private func spellings(of parts: TestTokenBuilder.Parts) throws -> [(String, [UInt8])] {
    var upper = parts.paymentData
    var header = try JSONField(.object(upper)).member("header").object
    header["transactionId"] = .string(Hex.encode(parts.transactionID).uppercased())
    upper["header"] = .object(header)
    var reordered = JSONObject()
    for (key, value) in parts.paymentData.members.reversed() { reordered[key] = value }
    let text = String(decoding: parts.bytes, as: UTF8.self)
    return [
      ("bare paymentData", JSONValue.object(parts.paymentData).serialized()),
      ("members in another order", JSONValue.object(reordered).serialized()),
      ("hexadecimal in capitals", JSONValue.object(upper).serialized()),
      ("white space", Array(text.replacing(":", with: " :\n ").utf8)),
      ("escapes in JSON", Array(text.replacing("EC_v1", with: "\\u0045C_v1").replacing("/", with: "\\/").utf8)),
      ("another outer member", Array("{\"a\":1,\(text.dropFirst())".utf8)),
      ("definite lengths", try resigned(parts) { BERRewrite.definite($0) }),
      ("ECDSA's second form", try resigned(parts) { try BERRewrite.negatedSignature($0) }),
    ]
  }

  private func resigned(_ parts: TestTokenBuilder.Parts, _ rewrite: ([UInt8]) throws -> [UInt8]) throws -> [UInt8] {
    var copy = parts
    copy.signature = try rewrite(parts.signature)
    try #require(copy.signature != parts.signature)
    return copy.bytes
  }

  @Test func `a token that shares only one of its fingerprints is the same token`() throws {
    let window = ReplayWindow()
    var builder = try TestTokenBuilder()
    try window.spend(verified(builder.build().bytes), at: arrival)
    builder.ephemeralKey = .init()
    let other = try verified(builder.build().bytes)
    #expect(try refusal { try window.spend(other, at: arrival) } == .tokenAlreadyUsed, "the same transaction id")
  }

  @Test func `it is remembered until its signing time is too old, and then forgotten`() throws {
    let window = ReplayWindow()
    let token = try fresh()
    try window.spend(token, at: arrival)
    let end = token.signingTime.adding(TokenVerifier.window)
    #expect(try refusal { try window.spend(token, at: end) } == .tokenAlreadyUsed)
    #expect(try refusal { try window.spend(token, at: end.adding(.seconds(121))) } == .tooOld)
    #expect(window.count == 0)
  }

  @Test func `one that was forgotten is not spent again by whoever verified it while it was fresh`() throws {
    let window = ReplayWindow()
    let token = try fresh()
    try window.spend(token, at: arrival)
    let later = token.signingTime.adding(TokenVerifier.window).adding(.seconds(121))
    try window.spend(fresh(), at: arrival)
    #expect(try refusal { try window.spend(token, at: later) } != nil)
    #expect(try refusal { try window.spend(token, at: arrival) } == .tooOld)
    let other = try fresh()
    #expect(try refusal { try window.spend(other, at: arrival) } == .tooOld, "its window ended before the latest time")
  }

  @Test func `a full window refuses what it cannot remember`() throws {
    let window = ReplayWindow(capacity: 2)
    try window.spend(fresh(), at: arrival)
    try window.spend(fresh(), at: arrival)
    let third = try fresh()
    #expect(try refusal { try window.spend(third, at: arrival) } == .replayWindowFull)
  }

  @Test func `of many at the same moment exactly one is accepted`() async throws {
    let window = ReplayWindow()
    let token = try fresh()
    let arrival = arrival
    let winners = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<64 { group.addTask { (try? window.spend(token, at: arrival)) != nil } }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
  }
}

/// Rewrites a built token's signature without touching what is signed.
enum BERRewrite {
  /// The same with definite lengths.
  static func definite(_ bytes: [UInt8]) -> [UInt8] {
    var index = 0
    return element(bytes, &index)
  }

  private static func element(_ bytes: [UInt8], _ index: inout Int) -> [UInt8] {
    let tag = bytes[index]
    guard bytes[index + 1] == 0x80 else {
      let end = index + size(bytes[index...])
      defer { index = end }
      return Array(bytes[index..<end])
    }
    index += 2
    var content: [UInt8] = []
    while bytes[index] != 0 || bytes[index + 1] != 0 { content += element(bytes, &index) }
    index += 2
    return der(tag, content)
  }

  private static func size(_ bytes: ArraySlice<UInt8>) -> Int {
    let first = Int(bytes[bytes.startIndex + 1])
    guard first >= 0x80 else { return 2 + first }
    return bytes.dropFirst(2).prefix(first & 0x7F).reduce(0) { $0 << 8 | Int($1) } + 2 + (first & 0x7F)
  }

  private static let order: [UInt8] = [
    0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7,
    0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
  ]

  /// s becomes n − s, which verifies as well. The signature's value ends where the first end-of-contents begins.
  static func negatedSignature(_ bytes: [UInt8]) throws -> [UInt8] {
    for length in 68...72 {
      let tail = der(0x04, []).count + length
      let end = bytes.count - 6
      let start = end - tail
      guard bytes[start] == 0x04, Int(bytes[start + 1]) == length, bytes[start + 2] == 0x30 else { continue }
      return grown(bytes, at: start, by: Array(bytes[(start + 2)..<end]))
    }
    throw CocoaError(.coderInvalidValue)
  }

  private static func grown(_ bytes: [UInt8], at start: Int, by value: [UInt8]) -> [UInt8] {
    let rSize = Int(value[3])
    let r = Array(value[4..<(4 + rSize)])
    var s = Array(value[(6 + rSize)...])
    if s.first == 0 { s.removeFirst() }
    s = [UInt8](repeating: 0, count: 32 - s.count) + s
    var negated = [UInt8](repeating: 0, count: 32)
    var borrow = 0
    for index in stride(from: 31, through: 0, by: -1) {
      var digit = Int(order[index]) - Int(s[index]) - borrow
      borrow = digit < 0 ? 1 : 0
      if digit < 0 { digit += 256 }
      negated[index] = UInt8(digit)
    }
    let positive = Array(negated.drop { $0 == 0 })
    let second = der(0x02, positive[0] >= 0x80 ? [0] + positive : positive)
    return replace(bytes, at: start, with: der(0x04, der(0x30, der(0x02, r) + second)))
  }

  /// The SignerInfo and the SET around it have definite lengths, which change with the value.
  private static func replace(_ bytes: [UInt8], at start: Int, with value: [UInt8]) -> [UInt8] {
    let end = bytes.count - 6
    for set in stride(from: start - 4, to: 0, by: -1) where bytes[set] == 0x31 && bytes[set + 1] == 0x82 {
      let signer = set + 4
      guard set + size(bytes[set...]) == end, bytes[signer] == 0x30, bytes[signer + 1] == 0x82 else { continue }
      let content = Array(bytes[(signer + 4)..<start]) + value
      return Array(bytes[..<set]) + der(0x31, der(0x30, content)) + Array(bytes[end...])
    }
    return bytes
  }
}
