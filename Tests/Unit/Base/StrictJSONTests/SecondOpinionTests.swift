import Foundation
import StrictJSON
import TenderTesting
import Testing

/// Compares Tender's reader with Python's `json` in its strictest form on the same documents.
@Suite struct `The JSON reader agrees with Python's` {
  @Test func `on documents, and on documents with one fault`() throws {
    let documents = Documents(seed: 20_26).make(12_000)
    let opinions = try PythonJSON.opinions(on: documents)
    try #require(opinions.count == documents.count)
    var accepted = 0
    for (document, opinion) in zip(documents, opinions) {
      let ours = (try? JSONReader.read(document)).map { String(decoding: $0.serialized(), as: UTF8.self) }
      #expect(ours == opinion, "\(String(decoding: document, as: UTF8.self))")
      accepted += ours == nil ? 0 : 1
    }
    #expect((3_000...11_000).contains(accepted), "the comparison must see both kinds: \(accepted) accepted")
  }
}

private enum PythonJSON {
  /// One line for each document: its compact form, or nothing when Python refuses it.
  static func opinions(on documents: [[UInt8]]) throws -> [String?] {
    let lines = documents.map { $0.map { String($0, radix: 16) }.joined(separator: " ") }.joined(separator: "\n")
    let (_, output) = try ChildProcess.run(["python3", "-c", program], input: Array(lines.utf8))
    let answer = String(decoding: output, as: UTF8.self)
    return answer.split(separator: "\n").map { $0 == "-" ? nil : String($0.dropFirst()) }
  }

  /// Tender's additional rules: no constants, no NUL, no lone surrogates, no repeated key.
  private static let program = """
    import json, sys
    def unique(pairs):
      keys = [k for k, _ in pairs]
      if len(set(keys)) != len(keys): raise ValueError("twice")
      return dict(pairs)
    class Literal(float):
      def __new__(cls, text):
        self = float.__new__(cls, 0); self.text = text; return self
      def __repr__(self): return self.text
    def whole(text): return int(text) if -2**63 <= int(text) < 2**63 else Literal(text)
    def refuse(text): raise ValueError("constant")
    def compact(v):
      if isinstance(v, Literal): return v.text
      if isinstance(v, dict): return "{" + ",".join(compact(k) + ":" + compact(x) for k, x in v.items()) + "}"
      if isinstance(v, list): return "[" + ",".join(compact(x) for x in v) + "]"
      if isinstance(v, str):
        v.encode("utf-8")
        if "\\0" in v: raise ValueError("NUL")
        return json.dumps(v, ensure_ascii=False)
      return json.dumps(v)
    for line in sys.stdin:
      document = bytes(int(x, 16) for x in line.split())
      try:
        value = json.loads(document.decode("utf-8"), object_pairs_hook=unique, parse_float=Literal, parse_int=whole,
                           parse_constant=refuse)
        print("=" + compact(value))
      except (ValueError, RecursionError):
        print("-")
    """
}

/// Seeded documents; every second one has a byte changed, lost, doubled or put in.
private struct Documents {
  private static let signs = Array(#"",:[]{}0-.eE\ut1 "#.utf8)
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  func make(_ count: Int) -> [[UInt8]] {
    var generator = self
    return (0..<count).map { $0.isMultiple(of: 2) ? generator.document() : generator.mutated(generator.document()) }
  }

  private mutating func below(_ bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }

  private mutating func document() -> [UInt8] { Array((space() + value(3) + space()).utf8) }

  private mutating func mutated(_ document: [UInt8]) -> [UInt8] {
    var bytes = document
    let place = below(bytes.count)
    switch below(4) {
    case 0: bytes[place] = UInt8(below(256))
    case 1: bytes.remove(at: place)
    case 2: bytes.insert(bytes[place], at: place)
    default: bytes.insert(Self.signs[below(Self.signs.count)], at: place)
    }
    return bytes
  }

  private mutating func space() -> String { ["", "", " ", "\n", "\t ", "\r\n"][below(6)] }

  private mutating func value(_ depth: Int) -> String {
    switch below(depth > 0 ? 7 : 4) {
    case 0: return ["true", "false", "null"][below(3)]
    case 1, 2: return number()
    case 3: return string()
    case 4: return "[" + list(depth) { $0.value(depth - 1) } + "]"
    default: return "{" + list(depth) { $0.string() + $0.space() + ":" + $0.space() + $0.value(depth - 1) } + "}"
    }
  }

  private mutating func list(_ depth: Int, _ element: (inout Documents) -> String) -> String {
    var elements: [String] = []
    for _ in 0..<below(4) { elements.append(space() + element(&self) + space()) }
    return elements.joined(separator: ",")
  }

  private mutating func number() -> String {
    let whole = ["0", "-1", "17", "-0", "9223372036854775807", "9223372036854775808", "100", "-12345"][below(8)]
    return whole + ["", "", "", ".5", ".00", "e3", "E-2", ".1e+10"][below(8)]
  }

  private mutating func string() -> String {
    let pieces = [
      "a", "b", "amount", "é", "€", "😀", #"\n"#, #"\""#, #"\\"#, #"\/"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\u0001"#, " ",
    ]
    return "\"" + (0..<below(4)).map { _ in pieces[below(pieces.count)] }.joined() + "\""
  }
}
