/// Limits of a JSON text.
public struct JSONLimits: Sendable, Hashable {
  /// How deeply arrays and objects may be nested; at most 256.
  public let depth: Int
  /// The most bytes that the text may have.
  public let size: Int

  public init(depth: Int = 32, size: Int = 1 << 20) {
    // The reader recurses once per level, so the depth is always bounded.
    self.depth = min(max(depth, 0), 256)
    self.size = size
  }

  /// 32 levels, 1 MiB.
  public static let standard = JSONLimits()
}

/// Reads JSON (RFC 8259) strictly, for money and payment tokens: it refuses texts that two parsers could read
/// differently.
///
/// Also refused: a key twice in one object, a byte order mark, lone surrogates, the character NUL even when escaped,
/// more than 30 combining marks in a row, and whatever exceeds the limits. Keys are compared as bytes.
public enum JSONReader {
  public static func read(
    _ bytes: some Collection<UInt8>, limits: JSONLimits = .standard
  ) throws(JSONError) -> JSONValue {
    guard bytes.count <= limits.size else {
      throw JSONError(.size, offset: limits.size, "longer than \(limits.size) bytes")
    }
    return try read(Array(bytes), limits: limits)
  }

  public static func read(_ bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) -> JSONValue {
    guard bytes.count <= limits.size else {
      throw JSONError(.size, offset: limits.size, "longer than \(limits.size) bytes")
    }
    guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
      throw JSONError(.badEncoding, offset: 0, "a byte order mark before the text")
    }
    var cursor = JSONCursor(bytes: bytes, depth: limits.depth)
    return try cursor.document()
  }
}
