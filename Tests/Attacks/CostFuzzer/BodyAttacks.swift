import StrictJSON
import TenderPayments
import TenderTesting

/// Attacks on the body. A request without one gets one.
enum BodyAttacks {
  static let all = [
    key, value, values, manyKeys, sameKey, similarKeys, deep, number, numbers, escapes, spaces, elements, chunks, long,
    notUTF8, base64, nestedSignature,
  ]

  private static let key = Attack(name: "key") { request, random in
    let (text, size) = text(&random, &request)
    request.body = Array("{\"\(text.filling(size))\":1,".utf8) + inner(request.body)
  }

  private static let value = Attack(name: "value of a member") { request, random in
    let (text, size) = text(&random, &request)
    let value = JSONValue.string(text.filling(size))
    request.body = edited(request.body) { leaves in leaves.randomElement(using: &random).map { [$0: value] } ?? [:] }
  }

  /// As long as the fields of a contact may be, in all places.
  private static let values = Attack(name: "values of all members") { request, random in
    let (text, _) = text(&random, &request)
    request.body = edited(request.body) { leaves in
      Dictionary(uniqueKeysWithValues: leaves.map { ($0, .string(text.filling(50_000 / max(leaves.count, 1)))) })
    }
  }

  private static let manyKeys = Attack(name: "many keys") { request, _ in
    let keys = (0..<5_500).map { "\"\($0)\":1" }.joined(separator: ",")
    request.body = Array("{\(keys),".utf8) + inner(request.body)
  }

  private static let sameKey = Attack(name: "one key many times") { request, _ in
    request.body = Array(("{" + String(repeating: "\"a\":1,", count: 9_000)).utf8) + inner(request.body)
  }

  private static let similarKeys = Attack(name: "keys with a long beginning in common") { request, _ in
    let beginning = String(repeating: "a", count: 500)
    let keys = (0..<110).map { "\"\(beginning)\($0)\":1" }.joined(separator: ",")
    request.body = Array("{\(keys),".utf8) + inner(request.body)
  }

  private static let deep = Attack(name: "depth") { request, random in
    let count = [30, 30_000].randomElement(using: &random) ?? 0
    let unit = ["[", "{\"a\":"].randomElement(using: &random) ?? "["
    request.body = Array(("{\"a\":" + String(repeating: unit, count: count)).utf8)
  }

  private static let number = Attack(name: "a long number") { request, random in
    let number = ["1", "-", "0.", "1e"].randomElement(using: &random) ?? ""
    request.body = Array("{\"a\":\(number)\(String(repeating: "9", count: 60_000)),".utf8) + inner(request.body)
  }

  private static let numbers = Attack(name: "many numbers") { request, _ in
    request.body = Array("{\"a\":[\(String(repeating: "1,", count: 30_000))1],".utf8) + inner(request.body)
  }

  private static let escapes = Attack(name: "escapes in a string") { request, random in
    let unit = [#"\u0301\u0327"#, #"\ud83d\ude00"#, #"\n"#, #"\u0061"#].randomElement(using: &random) ?? ""
    let text = String(repeating: unit, count: 60_000 / unit.utf8.count)
    request.body = Array("{\"\(text)\":\"\(text.prefix(2_000))\",".utf8) + inner(request.body)
  }

  private static let spaces = Attack(name: "white space") { request, _ in
    request.body = [UInt8](repeating: 0x20, count: 60_000) + request.body
  }

  /// Every list of the body as long as a body can hold.
  private static let elements = Attack(name: "many elements") { request, _ in
    guard let body = try? JSONReader.read(request.body) else { return }
    request.body = JSONEditing.lengthened(body, to: 58_000).serialized()
  }

  private static let chunks = Attack(name: "small chunks") { request, random in
    request.body += [UInt8](repeating: 0x20, count: [10_000, 60_000, 170_000].randomElement(using: &random) ?? 0)
    request.framing = .chunks(1)
  }

  private static let long = Attack(name: "a long body") { request, random in
    request.body += [UInt8](repeating: 0x20, count: 1_000_000)
    if Bool.random(using: &random) { request.framing = .chunks(1_000) }
  }

  private static let notUTF8 = Attack(name: "bytes that are no UTF-8") { request, random in
    let bytes = [UInt8](repeating: [0xFF, 0x80, 0xCC].randomElement(using: &random) ?? 0, count: 60_000)
    request.body = Array("{\"a\":\"".utf8) + bytes + Array("\",".utf8) + inner(request.body)
  }

  private static let base64 = Attack(name: "base64 with white space") { request, random in
    let text = String(repeating: ["A ", "A\\n", "AA==", "A"].randomElement(using: &random) ?? "", count: 13_000)
    request.body = edited(request.body) { leaves in
      leaves.randomElement(using: &random).map { [$0: .string(text)] } ?? [:]
    }
  }

  /// Structures in structures, in the place of the signature of a payment token.
  private static let nestedSignature = Attack(name: "nested signature") { request, random in
    let unit: [UInt8] =
      [[0x30, 0x80], [0x31, 0x80], [0x24, 0x80], [0x04, 0x00]].randomElement(using: &random) ?? []
    let bytes = Base64.encode(Array((0..<6_000).map { _ in unit }.joined()))
    request.body = JSONEditing.setting("signature", to: .string(bytes), in: request.body)
  }

  private static func text(_ random: inout SeededGenerator, _ request: inout HostileRequest) -> (HostileText, Int) {
    let text = HostileText.random(&random)
    let size = [900, 57_000].randomElement(using: &random) ?? 0
    request.name += ", \(size) bytes of \(text.name)"
    return (text, size)
  }

  /// The members of an object and its closing bracket, or a member of our own.
  private static func inner(_ body: [UInt8]) -> [UInt8] {
    body.count > 2 ? Array(body.dropFirst()) : Array("\"b\":1}".utf8)
  }

  private static func edited(_ body: [UInt8], _ changes: ([Int]) -> [Int: JSONValue]) -> [UInt8] {
    let value = (try? JSONReader.read(body)) ?? ["text": "a"]
    return JSONEditing.replacing(changes(Array(0..<JSONEditing.strings(in: value))), in: value).serialized()
  }
}

/// The clock of the attacker.
enum Attacker {
  static var now: Int64 { WallClock.system.now().seconds }
}
