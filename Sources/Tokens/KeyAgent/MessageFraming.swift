import NIOCore
import TenderPayments

/// Why a connection to an agent failed.
struct SocketError: Error {
  let reason: String
  /// Whether the peer closed the connection before any part of an answer.
  let isStale: Bool

  init(_ reason: String, isStale: Bool = false) {
    self.reason = reason
    self.isStale = isStale
  }
}

/// Assembles messages from the bytes that a connection receives, and overwrites those bytes, which may be keys.
struct MessageReader {
  /// A longer message is refused before any of it is read.
  private let limit: Int
  private var length = (bytes: 0, value: 0)
  /// Nil until its length is known. Allocated in full at once: a growing buffer would leave copies in memory.
  private var message: ByteBuffer?

  init(limit: Int) { self.limit = limit }

  /// Whether the length of the next message is known.
  var isInsideMessage: Bool { message != nil }

  /// Whether nothing of the next message has arrived.
  var isAtStart: Bool { length.bytes == 0 }

  /// Takes the next message from `buffer`; nil when more bytes are needed.
  mutating func next(in buffer: inout ByteBuffer) throws(SocketError) -> ByteBuffer? {
    try readLength(from: &buffer)
    fill(from: &buffer)
    guard let message, message.readableBytes == length.value else { return nil }
    (length, self.message) = ((0, 0), nil)
    return message
  }

  private mutating func readLength(from buffer: inout ByteBuffer) throws(SocketError) {
    while length.bytes < AgentMessages.lengthBytes, let byte = buffer.readInteger(as: UInt8.self) {
      length = (length.bytes + 1, length.value << 8 | Int(byte))
      guard length.bytes == AgentMessages.lengthBytes else { continue }
      guard (1...limit).contains(length.value) else { throw SocketError("a message of \(length.value) bytes") }
      message = ByteBufferAllocator().buffer(capacity: length.value)
    }
  }

  private mutating func fill(from buffer: inout ByteBuffer) {
    guard let filled = message?.readableBytes,
      let part = buffer.readSlice(length: min(buffer.readableBytes, length.value - filled))
    else { return }
    message?.writeImmutableBuffer(part)
    part.wipe()
  }
}

extension ByteBuffer {
  /// A message with its length before it.
  init(framing message: [UInt8]) {
    self = ByteBufferAllocator().buffer(capacity: AgentMessages.lengthBytes + message.count)
    writeInteger(UInt32(message.count))
    writeBytes(message)
  }

  /// Overwrites the readable bytes where they are. The mutating functions of `ByteBuffer` would overwrite a copy while a
  /// channel or a future still refers to the storage.
  func wipe() {
    withUnsafeReadableBytes { Wiping.zero(UnsafeMutableRawBufferPointer(mutating: $0)) }
  }
}
