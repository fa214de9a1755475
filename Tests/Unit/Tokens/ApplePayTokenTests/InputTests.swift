import ApplePayToken
import Crypto
import Foundation
import StrictJSON
import TenderPayments
import Testing

@Suite struct `Reading a payment token` {
  private func code(_ text: String) throws -> PaymentTokenError.Code? {
    try refusal { try EncryptedPaymentToken(bytes: Array(text.utf8)) }
  }

  private func changed(_ change: (inout JSONObject, inout JSONObject) -> Void) throws -> PaymentTokenError? {
    var data = try TestTokenBuilder().build().paymentData
    var header = try JSONField(.object(data)).member("header").object
    change(&data, &header)
    if data["header"] != nil { data["header"] = .object(header) }
    do {
      _ = try EncryptedPaymentToken(json: ["paymentData": .object(data)])
      return nil
    } catch {
      return error
    }
  }

  @Test func `a web token, an app token and the bare data are the same`() throws {
    let data = try TestTokenBuilder().build().paymentData
    let web: JSONValue = [
      "paymentMethod": ["displayName": "Visa 3595", "network": "Visa", "type": "debit"],
      "transactionIdentifier": "AB", "paymentData": .object(data),
    ]
    let bare = try EncryptedPaymentToken(json: .object(data))
    #expect(try EncryptedPaymentToken(json: web) == bare)
    #expect(try EncryptedPaymentToken(bytes: web.serialized()) == bare)
  }

  @Test func `each mistake of an integrator gets its own code`() throws {
    let token = try TestTokenBuilder().build()
    let text = String(decoding: token.bytes, as: UTF8.self)
    let inString = String(decoding: JSONValue.string(text).serialized(), as: UTF8.self)
    #expect(try code(inString) == .doubleEncoded)
    #expect(try code("{\"paymentData\":\(inString)}") == .doubleEncoded)
    #expect(try code("") == .emptyPaymentData)
    #expect(try code("{\"paymentData\":{}}") == .emptyPaymentData)
    #expect(try code("{\"paymentData\":\"\"}") == .emptyPaymentData)
    #expect(try code("{\"paymentData\":null,\"transactionIdentifier\":\"Simulated Identifier\"}") == .emptyPaymentData)
    #expect(try code("{\"paymentData\":1}") == .wrongType)
    #expect(try code("{\"token\":{}}") == .notAPaymentToken)
    #expect(try code("[]") == .notAPaymentToken)
    #expect(try code("<html>") == .notJSON)
    #expect(try code(text + text) == .notJSON)
    #expect(try code("{\"paymentData\":{\"version\":\"EC_v1\",\"version\":\"RSA_v1\"}}") == .notJSON)
  }

  private func reason(_ text: String) -> String? {
    do {
      _ = try EncryptedPaymentToken(bytes: Array(text.utf8))
      return nil
    } catch { return error.reason }
  }

  @Test func `the reason names the mistake`() throws {
    let data = JSONValue.object(try TestTokenBuilder().build().paymentData)
    let text = String(decoding: data.serialized(), as: UTF8.self)
    let base64 = Base64.encode(data.serialized())
    #expect(try code(base64) == .doubleEncoded)
    #expect(try code("{\"paymentData\":\"\(base64)\"}") == .doubleEncoded)
    #expect(reason("{\"paymentData\":\"\(base64)\"}")?.contains("the payment token's JSON in base64") == true)
    #expect(reason(String(decoding: JSONValue.string(text).serialized(), as: UTF8.self))?.contains("as text") == true)
    #expect(try code("{\"token\":{\"paymentData\":\(text)}}") == .notAPaymentToken)
    #expect(reason("{\"token\":{\"paymentData\":\(text)}}")?.contains("its member token") == true)
    #expect(reason("{\"ephemeralPublicKey\":\"\"}")?.contains("header alone") == true)
    #expect(reason(TestTokenBuilder.payload)?.contains("decrypted") == true)
  }

  /// What senders make of a payment token's bytes, and the words by which the refusal knows it.
  private static let wrappings: [(words: String, isReadable: Bool?, wrap: @Sendable ([UInt8]) -> [UInt8])] = [
    ("description of an NSData", true, { text("<\(Hex.encode($0))>") }),
    ("description of an NSData", false, { text("{length = 4096, bytes = 0x\(Hex.encode($0.prefix(16))) ... 7d7d }") }),
    ("description of a Swift Data", nil, { text("\($0.count) bytes") }),
    ("Node Buffer as JSON", true, { text(#"{"type":"Buffer","data":\#($0)}"#) }),
    ("array of bytes", true, { text("\($0)") }),
    ("Uint8Array", true, { text("{" + $0.enumerated().map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}") }),
    ("UTF-16", true, { $0.flatMap { [$0, 0] } }), ("UTF-16", true, { [0xFE, 0xFF] + $0.flatMap { [0, $0] } }),
    ("byte order mark", true, { [0xEF, 0xBB, 0xBF] + $0 }),
    ("encoded for a URL", true, { text("token=" + $0.map { "%\(Hex.encode([$0]))" }.joined()) }),
    ("gzip", nil, { [0x1F, 0x8B, 8, 0] + $0 }),
    ("gzip in base64", nil, { text(Base64.encode([0x1F, 0x8B, 8, 0] + $0)) }),
    (
      "read as UTF-8 text", false,
      { Array(String(decoding: [0x1F, 0x8B, 8] + $0.map { $0 ^ 0x80 }, as: UTF8.self).utf8) }
    ),
    ("in hexadecimal", true, { text("0x" + Hex.encode($0).uppercased()) }),
    ("in base64", true, { text(Base64.encode($0).replacing("+", with: "-").replacing("=", with: "")) }),
    ("data: URL", true, { text("data:application/json;base64," + Base64.encode($0)) }),
    ("its member payment.token", true, { text(#"{"payment":{"token":\#(string($0))}}"#) }),
    ("a nested member", true, { text(#"{"payment":{"4111111111111111":\#(string($0))}}"#) }),
    ("its member [0]", true, { text("[\(string($0))]") }),
    ("escaped for HTML", true, { text(string($0).replacing("\"", with: "&quot;")) }),
    ("Python prints", true, { text("b'\(string($0))'") }),
    ("made a text of", nil, { _ in text("[object Object]") }),
    (
      "multipart form", true,
      { text("--x\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\n\(string($0))\r\n--x--") }
    ),
    ("multipart form", true, { text("--x\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\n\(string($0))") }),
    ("JSON in PEM", true, { pem($0, columns: 64) }), ("JSON in PEM", true, { pem($0, columns: 76) }),
    ("JSON in PEM", true, { text("-----BEGIN TOKEN----- \(Base64.encode($0)) -----END TOKEN-----") }),
    ("JSON in base64 in base64", true, { text(Base64.encode(Array(Base64.encode($0).utf8))) }),
    ("cut off in base64", false, { text(String(Base64.encode($0).prefix(255))) }),
    ("cut off in hexadecimal", false, { text(String(Hex.encode($0).prefix(255))) }),
    ("UTF-16", false, { $0.prefix(300).flatMap { [$0, 0] } }),
    ("byte order mark", false, { [0xEF, 0xBB, 0xBF] + $0.prefix(300) }),
    ("Node Buffer as JSON", false, { text(#"{"type":"Buffer","data":\#(Array($0.prefix(300)))}"#) }),
    ("array of bytes", false, { text("\(Array($0.prefix(300)))") }),
    ("encoded for a URL", false, { text("token=" + $0.prefix(300).map { "%\(Hex.encode([$0]))" }.joined()) }),
    ("description of an NSData", false, { text("{length = 5000, bytes = 0x\(Hex.encode($0.prefix(300)))}") }),
    ("encoded for a URL", true, { text("csrf=1&token=" + $0.map { "%\(Hex.encode([$0]))" }.joined()) }),
    ("Node Buffer as JSON", true, { text(#"{"type":"Buffer","data":\#(text(Base64.encode($0)))}"#) }),
    ("UTF-16", true, { [0xFF, 0xFE] + text(Base64.encode($0)).flatMap { [$0, 0] } }),
    ("looks like XML", true, { text("<?xml version=\"1.0\"?><e><![CDATA[\(string($0))]]>") }),
    ("dictionary", false, { _ in text("{ version: 'EC_v1', data: 'abc'... 1203 more characters, header: [Object] }") }),
    (
      "became spaces", true,
      { text(Base64.encode($0.dropLast() + text(#","x":">>>>>>>>"}"#)).replacing("+", with: " ")) }
    ),
    ("its member token, as text", true, { text(#"{"token":\#(string(JSONValue.string(string($0)).serialized()))}"#) }),
    (
      "whose “+” are not encoded", true,
      { text("order=42&token=" + Base64.encode($0.dropLast() + text(#","x":">>>>>>>>"}"#)) + "&x=1") }
    ),
    ("whose “+” are not encoded", true, { text("token=" + urlEncoded($0).replacing("%2b", with: "+")) }),
    ("a URL with a form", true, { text("https://shop.example/pay?x=1&token=" + urlEncoded($0)) }),
    ("encoded for a URL", true, { text(urlEncoded(text(urlEncoded(text(urlEncoded($0)))))) }),
    ("JSON in base64 as its member token", true, { text(#"{"token":"\#(Base64.encode($0))"}"#) }),
    ("a Node Buffer as JSON as its member token", true, { text(#"{"token":{"type":"Buffer","data":\#($0)}}"#) }),
    (
      "a Node Buffer as JSON, and", true,
      { text(#"{"paymentData":{"type":"Buffer","data":\#($0)}}"#) }
    ),
    ("a data: URL as its member token", true, { text(#"{"token":"data:;base64,\#(Base64.encode($0))"}"#) }),
    ("JSON in base64 as a nested member", true, { text(#"{"4111111111111111":"\#(Base64.encode($0))"}"#) }),
    (
      "JSON that was cut off in base64 as its member token", false,
      { text(#"{"token":"\#(Base64.encode($0.prefix(300)))"}"#) }
    ),
    ("a data: URL", true, { text("data:application/json," + string($0).replacing("\"", with: "%22")) }),
    ("text around the payment token", true, { text("2026-11-28 INFO token=") + $0 }),
    ("JSON in base64 in other text", true, { text("2026-11-28 INFO token: \(Base64.encode($0)).") }),
    ("several documents", true, { $0 + $0 }), ("something behind it", true, { $0 + [0] }),
    ("Ruby", true, { text(string($0).replacing("\":", with: "\"=>")) }),
    ("Swift prints", true, { text(string($0).replacing("{", with: "[").replacing("}", with: "]")) }),
    (
      "a program prints", true,
      { text(string($0).replacing(/"([A-Za-z]+)":/) { "\($0.output.1): " }.replacing("\"", with: "'")) }
    ),
    ("a cell of CSV", true, { text("id,token\n7,\"\(string($0).replacing("\"", with: "\"\""))\"\n") }),
    ("quoted-printable", true, { text(string($0).replacing("=", with: "=3D").replacing(",", with: "=\r\n,")) }),
    (
      "quoted-printable", true,
      {
        text(
          "Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=B6=C3=9Fe: \(string($0).replacing("=", with: "=3D"))"
        )
      }
    ),
    ("part in base64", nil, { text("Content-Transfer-Encoding: base64\n\n\(Base64.encode($0.prefix(80)))\n") }),
    ("“\\x22” for its quotation marks", true, { text(string($0).replacing("\"", with: "\\x22")) }),
    (
      "in DynamoDB's types", nil,
      { _ in text(#"{"Item":{"version":{"S":"EC_v1"},"data":{"S":"AA=="},"header":{"M":{}}}}"#) }
    ),
    (
      "in Firestore's types", nil,
      { _ in
        text(
          #"{"fields":{"token":{"version":{"stringValue":"EC_v1"},"data":{"stringValue":"AA=="},"header":{"mapValue":{}}}}}"#
        )
      }
    ),
    ("an HTTP message", true, { text("GET /pay?a=b&x=41 HTTP/1.1 body=\(string($0))") }),
    ("a nested member, as text", true, { text(#"{"7":1,"x":\#(string(JSONValue.string(string($0)).serialized()))}"#) }),
    ("no-break spaces", true, { text(string($0).replacing(",", with: ",\u{A0}")) }),
    ("lines that break its strings", true, { $0.prefix(200) + text("\r\n") + $0.dropFirst(200) }),
    ("hex dump", true, { text("00000000: \(Hex.encode($0))  {\"version") }),
    ("decimal numbers", true, { text($0.map { "\($0)" }.joined(separator: " ")) }),
    ("escaped again", true, { text($0.map { "\\u00" + Hex.encode([$0]) }.joined()) }),
    ("its line ends as “\\n”", true, { text(string($0).replacing(",", with: ",\\r\\n")) }),
    ("quotation marks", true, { text("'\(string($0))'") }),
    ("YAML", nil, { _ in text("version: EC_v1\ndata: AAAA\n") }),
    ("a map as Go", nil, { _ in text("map[version:EC_v1]") }),
    ("shortened", false, { text(Base64.encode($0.prefix(150)) + "..." + Base64.encode($0.suffix(30))) }),
    ("which is a nested member", true, { text(#"{"x\nverified: 9 EUR":{"paymentData":\#(string($0))}}"#) }),
  ]

  private static func urlEncoded(_ bytes: [UInt8]) -> String { bytes.map { "%\(Hex.encode([$0]))" }.joined() }
  private static func pem(_ bytes: [UInt8], columns: Int) -> [UInt8] {
    var (lines, rest) = (["-----BEGIN APPLE PAY-----"], Substring(Base64.encode(bytes)))
    while !rest.isEmpty {
      lines.append(String(rest.prefix(columns)))
      rest = rest.dropFirst(columns)
    }
    return text((lines + ["-----END APPLE PAY-----", ""]).joined(separator: "\n"))
  }
  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
  private static func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(arguments: wrappings.indices)
  func `a wrapping is named, with whether its token can be read and what undoes it`(index: Int) throws {
    let wrapping = Self.wrappings[index]
    let bytes = wrapping.wrap(try TestTokenBuilder().build().bytes)
    let refusal = #expect(throws: PaymentTokenError.self) { try EncryptedPaymentToken(bytes: bytes) }
    let reason = refusal?.reason ?? ""
    #expect(reason.contains(wrapping.words), "\(reason)")
    #expect(reason.contains("can be read") == (wrapping.isReadable == true), "\(reason)")
    #expect(reason.contains("bytes of it are lost") == (wrapping.isReadable == false), "\(reason)")
    let advice = [". Send ", "then send what is in it", "pass those on"].filter(reason.contains)
    #expect(advice.count == 1 && !reason.contains("9 EUR"), "\(reason)")
  }

  @Test(arguments: wrappings.indices)
  func `of bytes that are missing in the middle nothing is said`(index: Int) throws {
    let text = String(decoding: try TestTokenBuilder().build().bytes, as: UTF8.self)
    let data = try #require(text.firstRange(of: "\"data\":\""))
    let place = text.index(data.upperBound, offsetBy: 40)
    let damaged = text[..<place] + text[text.index(place, offsetBy: 40)...]
    let refusal = #expect(throws: PaymentTokenError.self) {
      try EncryptedPaymentToken(bytes: Self.wrappings[index].wrap(Array(damaged.utf8)))
    }
    let reason = refusal?.reason ?? ""
    #expect(reason.contains("bytes of it are lost") == (Self.wrappings[index].isReadable == false), "\(reason)")
    #expect(!reason.contains("no byte"), "\(reason)")
  }

  @Test(arguments: ["=", "=C3=BC and =\n", "Please wait...", "\u{FFFD}"])
  func `a text without a payment token is not said to have lost bytes of one`(text: String) throws {
    for text in ["a.version=1\na.data=\(text)", "<p>\(text)</p>", "note: “\(text)”"] where !text.contains("\u{FFFD}") {
      #expect(reason(text)?.contains("are lost") == false && reason(text)?.contains("quoted-printable") == false)
    }
    let token = String(decoding: try TestTokenBuilder().build().bytes, as: UTF8.self)
    #expect(reason("log \(text) \(token)")?.contains("the payment token in it can be read") == true)
  }

  @Test func `what holds no payment token is not said to hold one, nor to be had from it`() throws {
    let token = try TestTokenBuilder().build()
    let data = Base64.encode(Array(repeating: 0xF1, count: 300))
    let claims = Base64.encode(Array(#"{"sub":"shopper","iat":1}"#.utf8)).replacing("=", with: "")
    for (text, wanted, words) in [
      (#""hello there, shopper""#, PaymentTokenError.Code.notAPaymentToken, "no payment token is in it"),
      (#"{"paymentData":"hello"}"#, .wrongType, "no payment token is in it"),
      (data, .notJSON, "the value of data alone"), ("-----BEGIN CERTIFICATE-----\nAAAA\n", .notJSON, "this is PEM"),
      ("eyJhbGciOiJIUzI1NiJ9.\(claims).c2lnbmF0dXJl", .notJSON, "nothing of the payment token is in it"),
      ("eyJhbGciOiJSU0EifQ.AA.BB.CC.DD", .notJSON, "Decrypt it first"),
    ] {
      #expect(try code(text) == wanted, "\(text)")
      let reason = reason(text) ?? ""
      #expect(reason.contains(words) && !reason.contains("Buffer.from"), "\(reason)")
    }
    let signed = "eyJhbGciOiJIUzI1NiJ9.\(Base64.encode(token.bytes).replacing("=", with: "")).c2lnbmF0dXJl"
    #expect(reason(signed)?.contains("the payment token in it can be read. Send it so: Buffer.from") == true)
    #expect(reason(Base64.encode(token.bytes.prefix(300)))?.contains("Send the next one so: ") == true)
  }

  @Test func `a member below names that are not repeated is had by its place in JavaScript's order`() throws {
    let token = String(decoding: try TestTokenBuilder().build().bytes, as: UTF8.self)
    #expect(
      reason(#"{"order":1,"token":[0,{"x":\#(token),"10":1,"2":{}}]}"#)?
        .contains("JSON.stringify(Object.values(JSON.parse(text).token[1])[2])") == true)
    #expect(
      reason(#"{"b":1,"10":\#(token),"2":{}}"#)?.contains("JSON.stringify(Object.values(JSON.parse(text))[1])") == true)
  }

  @Test func `what is said of a cut names its byte`() throws {
    let bytes = try TestTokenBuilder().build().bytes
    #expect(reason(String(decoding: bytes.prefix(300), as: UTF8.self))?.contains("cut off at byte 300") == true)
    #expect(reason(Base64.encode(bytes.prefix(300)))?.contains("cut off at byte 300") == true)
  }

  @Test func `an inspection says when the signature is over other data`() throws {
    var parts = try TestTokenBuilder().build()
    #expect(TokenInspection(try parts.token()).problem == nil)
    parts.data.removeSubrange(40..<70)
    #expect(TokenInspection(try parts.token()).problem?.code == .wrongDigest)
  }

  @Test(arguments: [
    ("data:;base64,AAAA", "a data: URL"), ("00ff00ff00", "hexadecimal"), ("AAAA\nAAAA", "white space"),
    ("AAAAA", "its 5 characters are no multiple of four"), ("AAé\u{200B}AAAA", "its character 3 is none"),
  ])
  func `a member that is no base64 is named`(text: String, words: String) throws {
    #expect(try changed { data, _ in data["data"] = .string(text) }?.reason.contains(words) == true)
  }

  @Test func `a refusal shows the first bytes and no more`() {
    #expect(reason("4111111111111111, 12/29")?.contains("begins with “41111111 …”") == true)
    #expect(reason("4111111111111111, 12/29")?.contains("411111111") == false)
  }

  @Test(arguments: ["4111111111111111", "<script>", "", "tøken", "Token", String(repeating: "k", count: 200)])
  func `a refusal repeats no member's name that the sender made`(name: String) throws {
    let token = JSONValue.object(try TestTokenBuilder().build().paymentData)
    func holding(_ value: JSONValue) -> JSONValue {
      var object = JSONObject()
      object[name] = value
      return .object(object)
    }
    for document in [holding(token), holding(["token": token]), ["paymentData": holding(["paymentData": token])]] {
      let refusal = #expect(throws: PaymentTokenError.self) { try EncryptedPaymentToken(json: document) }
      let another = String(decoding: document.serialized(), as: UTF8.self).replacing("\"\(name)\":", with: "\"order\":")
      #expect(refusal?.reason == reason(another) && refusal?.reason.contains("a nested member") == true)
    }
  }

  @Test(arguments: [
    #"{"signature":"MEQ=","protocolVersion":"ECv2","signedMessage":"{}"}"#,
    #""{\"signature\":\"MEQ=\",\"protocolVersion\":\"ECv1\",\"signedMessage\":\"{}\"}""#,
    #"{"apiVersion":2,"paymentMethodData":{"type":"CARD","tokenizationData":{"type":"PAYMENT_GATEWAY","token":"{}"}}}"#,
    #"{"paymentData":"{\"signature\":\"MEQ=\",\"protocolVersion\":\"ECv2\",\"signedMessage\":\"{}\"}"}"#,
  ])
  func `Google Pay's token is named`(text: String) throws {
    #expect(try code(text) == .googlePayToken)
  }

  @Test func `an empty file is named`() throws {
    for text in ["", " \n"] {
      #expect(try code(text) == .emptyPaymentData)
      #expect(reason(text)?.contains("empty") == true)
    }
  }

  @Test func `each member is refused by name`() throws {
    let missing = try changed { data, _ in data["signature"] = nil }
    #expect(missing?.code == .missingField)
    #expect(missing?.field == "signature")
    #expect(try changed { data, _ in data["header"] = nil }?.field == "header")
    #expect(try changed { _, header in header["publicKeyHash"] = nil }?.field == "header.publicKeyHash")
    #expect(try changed { _, header in header["transactionId"] = 1 }?.code == .wrongType)
    #expect(try changed { data, _ in data["version"] = "EC_v2" }?.code == .unknownVersion)
    #expect(try changed { data, _ in data["version"] = "ec_v1" }?.code == .unknownVersion)
    #expect(try changed { data, _ in data["data"] = "" }?.code == .wrongLength)
    #expect(try changed { _, header in header["transactionId"] = "ab" }?.code == .wrongLength)
    #expect(
      try changed { _, header in header["transactionId"] = .string(String(repeating: "g", count: 64)) }?.code == .badHex
    )
    #expect(try changed { _, header in header["applicationData"] = "" }?.code == .wrongLength)
    #expect(try changed { _, header in header["applicationData"] = .null } == nil)
    #expect(try changed { _, header in header["publicKeyHash"] = "AAAA" }?.code == .wrongLength)
  }

  @Test func `key material belongs to its version`() throws {
    #expect(try changed { _, header in header["wrappedKey"] = "AAAA" }?.code == .wrongKeyMaterial)
    #expect(try changed { data, _ in data["version"] = "RSA_v1" }?.code == .wrongKeyMaterial)
    #expect(try changed { _, header in header["ephemeralPublicKey"] = nil }?.code == .missingField)
  }

  @Test(arguments: [
    ("-_-_", "base64url"), ("AA\\nAA", "bad_base64"), ("AAA", "bad_base64"), ("AB==", "bad_base64"),
    ("AAA=A", "bad_base64"),
    ("A A=", "plus_as_space"), (" AA=", "plus_as_space"), ("A A", "bad_base64"), ("A B=", "bad_base64"),
  ])
  func `base64 has one spelling`(text: String, code: String) throws {
    let value = text.replacing("\\n", with: "\n")
    #expect(try changed { data, _ in data["data"] = .string(value) }?.code.rawValue == code)
  }

  @Test func `an oversized token is refused before it is decoded`() throws {
    let large = JSONValue.string(String(repeating: "A", count: 30_000))
    #expect(try changed { data, _ in data["signature"] = large }?.code == .wrongLength)
    #expect(try refusal { try EncryptedPaymentToken(bytes: Array(repeating: 0x31, count: 600_000)) } == .notJSON)
    #expect(try code(String(repeating: "[", count: 100_000)) == .notJSON)
  }

  @Test func `its description holds no data`() throws {
    let token = try TestTokenBuilder().build().token()
    #expect("\(token)" == "EncryptedPaymentToken(EC_v1)")
    #expect(String(reflecting: token) == "EncryptedPaymentToken(EC_v1)")
  }
}

@Suite struct `Malicious signatures` {
  private func refused(_ signature: [UInt8]) throws -> PaymentTokenError.Code? {
    let good = try TestTokenBuilder().build().token()
    let token = EncryptedPaymentToken(
      version: .ecV1, data: good.data, signature: signature, keyMaterial: good.keyMaterial,
      publicKeyHash: good.publicKeyHash, transactionID: good.transactionID, applicationDataHash: nil)
    let start = Self.spent
    let code = try refusal {
      try testOpener().open(token, for: TestTokenBuilder.merchant, at: TestTokenBuilder.Parts.arrival)
    }
    #expect(Self.spent - start < .seconds(5), "refused at once, even in a debug build")
    return code
  }

  /// What this thread has used of the processor: what else the machine does meanwhile does not count.
  private static var spent: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  @Test func `ten thousand nested indefinite lengths are refused`() throws {
    let nested = (0..<8_000).flatMap { _ in [0x30, 0x80] as [UInt8] }
    #expect(try refused(nested) == .malformedSignature)
    #expect(try refused((0..<10_000).flatMap { _ in [0x30, 0x80] as [UInt8] }) == .wrongLength)
  }

  @Test(
    arguments: [
      [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
      [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0xFF], [0x30, 0x83, 0xFF, 0xFF, 0xFF],
      [0x30, 0x81, 0x05, 1, 2, 3, 4, 5], [0x30, 0x82, 0x00, 0x80], [0x30], [0x30, 0x80], [0x30, 0x80, 0x00],
      [0x1F, 0x81, 0x80, 0x01, 0x00], [0x04, 0x80, 0x00, 0x00], [0x00, 0x00],
    ] as [[UInt8]])
  func `a wrong length is refused`(signature: [UInt8]) throws {
    #expect(try refused(signature) == .malformedSignature)
  }

  @Test func `a thousand empty elements where one should be are refused`() throws {
    let many = der(
      0x30,
      oid([7, 2])
        + der(0xA0, der(0x30, [2, 1, 1] + der(0x31, Array(repeating: 0x31, count: 2_000).flatMap { [$0, 0] }))))
    #expect(try refused(many) == .malformedSignature)
  }

  @Test func `every prefix of a good signature is refused`() throws {
    let good = try TestTokenBuilder().build()
    let opener = try testOpener()
    for count in 0..<good.signature.count where count % 3 == 0 {
      var cut = good
      cut.signature = Array(good.signature.prefix(count))
      #expect(try refusal { try cut.open(with: opener) } != nil)
    }
  }

  @Test func `random bytes are refused`() throws {
    var state: UInt64 = 7
    for _ in 0..<300 {
      let noise = (0..<200).map { _ -> UInt8 in
        state = state &* 6_364_136_223_846_793_005 &+ 1
        return UInt8(truncatingIfNeeded: state >> 56)
      }
      #expect(try refused([0x30, 0x80] + noise) != nil)
    }
  }
}
