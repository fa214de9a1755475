import Foundation
import Mail
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// The e-mail parser of Python's standard library, which has no line in common with ours.
enum PythonMail {
  private static let script = """
    import email, email.policy, json, sys
    raw = sys.stdin.buffer.read()
    m = email.message_from_bytes(raw, policy=email.policy.SMTP)
    parts = list(m.iter_parts())
    body = lambda kind: (lambda p: p.get_content() if p else "")(m.get_body(preferencelist=(kind,)))
    address = lambda name: m[name].addresses[0] if m[name] else None
    trim = lambda text: text[:-1] if text.endswith("\\n") else text
    print(json.dumps({
      "subject": str(m["subject"]), "from": address("from").addr_spec, "from_name": address("from").display_name,
      "to": address("to").addr_spec, "reply_to": address("reply-to").addr_spec if m["reply-to"] else "",
      "language": str(m["content-language"]), "id": str(m["message-id"]), "headers": " ".join(m.keys()),
      "date": m["date"].datetime.isoformat(), "text": body("plain").replace("\\r\\n", "\\n"),
      "html": body("html").replace("\\r\\n", "\\n"),
      "types": " ".join(p.get_content_type() for p in parts),
      "defects": str(len(m.defects) + sum(len(p.defects) for p in parts)),
    }))
    """

  static func read(_ message: [UInt8]) throws -> [String: String] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    try input.fileHandleForWriting.write(contentsOf: message)
    try input.fileHandleForWriting.close()
    let answer = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return try StrictJSONDecoder().decode([String: String].self, from: Array(answer))
  }
}

extension MailAddress {
  static func sample(_ text: String) -> MailAddress {
    guard let address = MailAddress(text) else { preconditionFailure("\(text) is no address") }
    return address
  }
}
