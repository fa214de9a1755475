package import NIOCore

/// One HTTP/1.1 message, as far as a benchmark looks at it.
package struct HTTPMessage: Sendable {
  /// `HTTP/1.1 200 OK`, or `POST /path HTTP/1.1`.
  package let start: String
  package let hasRetryAfter: Bool
  package let body: ByteBuffer

  package var status: Int { Int(start.split(separator: " ").dropFirst().first ?? "") ?? 0 }
  package var path: Substring { start.split(separator: " ").dropFirst().first ?? "" }
}

/// Cuts a stream of bytes into messages. It knows bodies with a `Content-Length` and none at all, which is all that
/// Tender sends, and costs a few microseconds a message: what a generator takes is taken from the server beside it.
package struct MessageReader {
  package struct Unreadable: Error {}

  private var buffer = ByteBuffer()

  package init() {}

  package mutating func append(_ bytes: inout ByteBuffer) {
    if buffer.readableBytes == 0 { buffer.clear() }
    buffer.writeBuffer(&bytes)
  }

  /// The next message, when all of it is there.
  package mutating func next() throws(Unreadable) -> HTTPMessage? {
    guard let length = headLength else { return nil }
    let head = Head(buffer.readableBytesView.prefix(length))
    guard !head.isChunked else { throw Unreadable() }
    guard buffer.readableBytes >= length + head.bodyLength else { return nil }
    buffer.moveReaderIndex(forwardBy: length)
    let body = buffer.readSlice(length: head.bodyLength) ?? ByteBuffer()
    return HTTPMessage(start: head.start, hasRetryAfter: head.hasRetryAfter, body: body)
  }

  /// With the empty line.
  private var headLength: Int? {
    let bytes = buffer.readableBytesView
    var newlines = 0
    for (offset, byte) in bytes.enumerated() {
      if byte == UInt8(ascii: "\n") { newlines += 1 } else if byte != UInt8(ascii: "\r") { newlines = 0 }
      if newlines == 2 { return offset + 1 }
    }
    return nil
  }
}

private struct Head {
  var start = ""
  var bodyLength = 0
  var hasRetryAfter = false
  var isChunked = false

  init(_ bytes: ByteBufferView) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    start = lines.first.map { Self.text($0) } ?? ""
    for line in lines.dropFirst() { note(line) }
  }

  private mutating func note(_ line: ByteBufferView) {
    // Every other field costs only this look at its first letter.
    switch line.first.map({ $0 | 0x20 }) {
    case UInt8(ascii: "c"), UInt8(ascii: "r"), UInt8(ascii: "t"): break
    default: return
    }
    let parts = Self.text(line).split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { return }
    switch parts[0].lowercased() {
    case "content-length": bodyLength = Int(parts[1].filter(\.isNumber)) ?? 0
    case "retry-after": hasRetryAfter = true
    case "transfer-encoding": isChunked = true
    default: break
    }
  }

  private static func text(_ line: ByteBufferView) -> String {
    String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
