import StrictJSON
import TenderPayments
import Testing

@Suite struct `Reading values of JSON` {
  private func root(_ text: String) throws -> JSONField { JSONField(try read(text)) }

  @Test func `values are found by path`() throws {
    let root = try root(#"{"a":{"b":[1,"x",true]}}"#)
    let list = try root.member("a").member("b").array
    #expect(try list[0].integer == 1)
    #expect(try list[1].string == "x")
    #expect(try list[2].bool)
  }

  @Test func `the error names the path and never the value`() throws {
    let list = try root(#"{"a":{"b":["secret"]}}"#).member("a").member("b").array
    #expect(throws: JSONError(.wrongType, path: "$.a.b[0]", "must be a whole number, is a string")) {
      try list[0].integer
    }
  }

  @Test(arguments: ["1250.0", "1250.00"]) func `a whole number with a fraction is told how to be written`(
    _ text: String
  ) {
    #expect(
      throws: JSONError(.wrongType, path: "$.a", "must be a whole number, is a number that is not whole; write 1250")
    ) {
      try root(#"{"a":\#(text)}"#).member("a").integer
    }
  }

  @Test(arguments: ["1250.5", "1.25e3", "4111111111111111.0"])
  func `another number that is not whole is not repeated`(_ text: String) {
    #expect(throws: JSONError(.wrongType, path: "$.a", "must be a whole number, is a number that is not whole")) {
      try root(#"{"a":\#(text)}"#).member("a").integer
    }
  }

  @Test func `a text that an enumeration does not have is told those that it has`() {
    enum Mode: String, Decodable, CaseIterable { case immediate, manual }
    struct Order: Decodable { let modes: [Mode] }
    #expect(throws: JSONError(.invalid, path: "$.modes[1]", "must be one of immediate, manual")) {
      try StrictJSONDecoder().decode(Order.self, from: ["modes": ["manual", "secret"]])
    }
  }

  @Test func `an amount with a fraction or an exponent is no integer`() throws {
    for text in ["1.5", "1e2", "1.0", "9223372036854775808", "\"1\""] {
      #expect(throws: JSONError.self) { try root(text).integer }
    }
  }

  @Test func `an amount has at most twelve digits`() throws {
    let euro = try #require(Currency(code: "EUR"))
    #expect(try root("999999999999").amount(in: euro).minorUnits == 999_999_999_999)
    for text in ["1000000000000", "-1000000000000", "9223372036854775807", "12.5"] {
      #expect(throws: JSONError.self) { try root(text).amount(in: euro) }
    }
  }

  @Test func `null counts as missing only where a member may be missing`() throws {
    let root = try root(#"{"a":null}"#)
    #expect(try root.memberIfPresent("a") == nil)
    #expect(try root.memberIfPresent("b") == nil)
    #expect(throws: JSONError.self) { try root.member("a").string }
    #expect(throws: JSONError(.missing, path: "$.b", "missing")) { try root.member("b") }
  }

  @Test func `an object can be changed and written`() {
    var object: JSONObject = ["a": 1, "b": ["x", true]]
    object["a"] = 2
    object["b"] = nil
    object["c"] = "\u{1}\"\\"
    #expect(String(decoding: JSONValue.object(object).serialized(), as: UTF8.self) == #"{"a":2,"c":"\u0001\"\\"}"#)
  }
}

@Suite struct `Decoding strict JSON` {
  private struct Line: Decodable, Equatable {
    let label: String
    let amount: Int64
    let pending: Bool?
  }

  private struct Basket: Decodable, Equatable {
    let items: [Line]
    let notes: [String: Int]?
    let raw: JSONValue?
  }

  private struct Price: Decodable { let price: Double }
  private struct Small: Decodable { let number: UInt8 }

  private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
    try StrictJSONDecoder().decode(type, from: Array(text.utf8))
  }

  @Test func `a type is decoded, unknown members aside`() throws {
    let text =
      #"{"items":[{"label":"a","amount":5,"x":1},{"label":"b","amount":-1,"pending":true}],"notes":{"n":1},"raw":{"k":[1.5]}}"#
    let basket = try decode(Basket.self, text)
    let lines = [Line(label: "a", amount: 5, pending: nil), Line(label: "b", amount: -1, pending: true)]
    #expect(basket == Basket(items: lines, notes: ["n": 1], raw: ["k": [.number("1.5")]]))
  }

  @Test(arguments: [
    (#"{"items":[{"label":"a","amount":5.0}]}"#, "wrong_type", "$.items[0].amount"),
    (#"{"items":[{"label":"a","amount":"5"}]}"#, "wrong_type", "$.items[0].amount"),
    (#"{"items":[{"label":"a"}]}"#, "missing", "$.items[0].amount"),
    (#"{"items":[{"label":null,"amount":1}]}"#, "missing", "$.items[0].label"),
    (#"{"items":{}}"#, "wrong_type", "$.items"), (#"{"items":[1]}"#, "wrong_type", "$.items[0]"),
    ("[]", "wrong_type", "$"),
  ])
  func `a wrong document is refused with its path`(text: String, code: String, path: String) {
    let error = #expect(throws: JSONError.self) { try decode(Basket.self, text) }
    #expect(error?.code.rawValue == code)
    #expect(error?.path == path)
  }

  @Test func `there are no floating point numbers`() {
    #expect(throws: JSONError.self) { try decode(Price.self, #"{"price":1}"#) }
  }

  @Test func `a number that does not fit is refused`() {
    let error = #expect(throws: JSONError.self) { try decode(Small.self, #"{"number":256}"#) }
    #expect(error?.code == .outOfRange)
  }

  @Test func `a key twice is refused before decoding`() {
    let error = #expect(throws: JSONError.self) { try decode(Small.self, #"{"number":1,"number":2}"#) }
    #expect(error?.code == .duplicateKey)
  }
}
