import Crypto
import Foundation
import DirectWire
import TenderPayments

/// One request, before it is signed and written.
struct HostileRequest: Sendable {
  enum Signature: Sendable { case none, platform, event }
  /// How the body is cut: one piece, or chunks of so many bytes.
  enum Framing: Sendable { case whole, chunks(Int) }

  var name: String
  let method: String
  var target: String
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  var signature = Signature.none
  var framing = Framing.whole

  /// Puts the header in the place of every other of its name.
  mutating func set(_ name: String, _ value: String) {
    headers.removeAll { $0.name == name }
    headers.append((name, value))
  }

  /// As it is sent. The connection closes after the answer, so that the answer's end is seen. Where an attack has set the
  /// header, a second request closes it.
  func bytes(to target: CostTarget) -> [UInt8] {
    var lines = headers
    func add(_ name: String, _ value: String) {
      if !lines.contains(where: { $0.name == name }) { lines.append((name, value)) }
    }
    add("Host", "localhost")
    let isClosed = !lines.contains { $0.name == "Connection" }
    add("Connection", "close")
    if !body.isEmpty { add("Content-Type", "application/json") }
    for (name, value) in signed(lines, for: target) { add(name, value) }
    let (framing, content) = framed()
    if let framing { add(framing.0, framing.1) }
    let head = lines.map { "\($0.name): \($0.value)\r\n" }.joined()
    let next = isClosed ? "" : "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    return Array("\(method) \(self.target) HTTP/1.1\r\n\(head)\r\n".utf8) + content + Array(next.utf8)
  }

  private func framed() -> (header: (String, String)?, content: [UInt8]) {
    guard !body.isEmpty else { return (nil, []) }
    guard case .chunks(let size) = framing else { return (("Content-Length", "\(body.count)"), body) }
    var content: [UInt8] = []
    for start in stride(from: 0, to: body.count, by: size) {
      let chunk = body[start..<min(start + size, body.count)]
      content += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10]
    }
    return (("Transfer-Encoding", "chunked"), content + Array("0\r\n\r\n".utf8))
  }

  private func signed(_ lines: [(name: String, value: String)], for target: CostTarget) -> [(String, String)] {
    switch signature {
    case .none: return []
    case .event:
      let time = WallClock.system.now().seconds
      let code = HMAC<SHA256>.authenticationCode(
        for: Array("\(time).".utf8) + body, using: SymmetricKey(data: Array(target.eventKey.utf8)))
      return [("Sandbox-Signature", "t=\(time),v1=\(Hex.encode(Array(code)))")]
    case .platform:
      let date = HTTPDate.text(WallClock.system.now())
      let type = lines.first { $0.name == "Content-Type" }?.value ?? ""
      let gcs = lines.filter { $0.name.hasPrefix("X-GCS") }
      let authorization = RequestSigner(apiKeyId: target.key.id, secret: target.key.secret).authorization(
        method: method, contentType: type, date: date, gcsHeaders: gcs, pathAndQuery: self.target)
      return [("Date", date), ("Authorization", authorization)]
    }
  }
}
