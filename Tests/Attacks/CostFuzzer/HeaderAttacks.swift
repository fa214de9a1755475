import TenderPayments
import TenderTesting

/// Attacks on the request line and the headers.
enum HeaderAttacks {
  static let all = values + [many, repeated, longName, query, escapes, path, signatures]

  private static let names = [
    "Host", "Origin", "Content-Type", "Authorization", "Date", "Connection", "If-None-Match", "Cookie", "User-Agent",
    "X-GCS-ClientMetaInfo", "Sandbox-Signature",
  ]

  /// A header with a hostile text: as long as headers may be, or much longer.
  private static let values = names.map { name in
    Attack(name: "value of \(name)") { request, random in
      let text = HostileText.random(&random)
      let size = [7_000, 15_000, 78_000].randomElement(using: &random) ?? 0
      request.name += ", \(size) bytes of \(text.name)"
      request.set(name, text.filling(size))
    }
  }

  private static let many = Attack(name: "many headers") { request, random in
    let count = [100, 1_000, 5_000].randomElement(using: &random) ?? 0
    request.headers += (0..<count).map { ("X-Header-\($0)", "a") }
  }

  private static let repeated = Attack(name: "one header many times") { request, random in
    let name = names.randomElement(using: &random) ?? "Cookie"
    request.headers += (0..<100).map { (name, "a\($0)") }
  }

  private static let longName = Attack(name: "a long name") { request, random in
    request.headers.append((String(repeating: "a", count: 15_000), "a"))
  }

  private static let query = Attack(name: "many parameters") { request, random in
    request.target += "?" + (0..<1_000).map { "a\($0)=1" }.joined(separator: "&")
  }

  private static let escapes = Attack(name: "escapes") { request, random in
    let text = HostileText.random(&random)
    let size = [2_000, 5_000, 25_000].randomElement(using: &random) ?? 0
    request.name += ", \(size) bytes of \(text.name)"
    request.target += "?" + text.filling(size).utf8.map { "%" + Hex.encode([$0]) }.joined()
  }

  private static let path = Attack(name: "a long path") { request, random in
    let unit = ["/a", "%CC%81%CC%A7", "//", "/.."].randomElement(using: &random) ?? ""
    request.target += String(repeating: unit, count: 7_000 / unit.utf8.count)
  }

  /// Each signature would have to be compared with one of the whole body.
  private static let signatures = Attack(name: "many signatures") { request, random in
    guard case .event = request.signature else { return }
    request.body += [UInt8](repeating: 0x20, count: 64_000)
    let codes = (0..<200).map { _ in "v1=" + String(repeating: "0", count: 64) }
    request.set("Sandbox-Signature", "t=\(Attacker.now),\(codes.joined(separator: ","))")
  }
}
