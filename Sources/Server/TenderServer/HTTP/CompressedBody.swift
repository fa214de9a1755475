import Administration
import CZlib
import HTTPTypes
import Hummingbird

/// A request body that came compressed: `Content-Encoding: gzip` (RFC 1952), which Worldline's SDKs of today can send.
enum CompressedBody {
  /// The body as its sender wrote it; the same bytes where they are not compressed.
  ///
  /// - Throws: for another coding, for bytes that are not gzip, and for what is longer than
  ///   ``RequestBody/maximumBytes`` in plain, however short it came.
  static func plain(_ body: [UInt8], of request: Request) throws -> [UInt8] {
    guard let coding = request.headers[.contentEncoding], coding.lowercased() != "identity" else { return body }
    guard coding.lowercased() == "gzip" else {
      throw Problem(.unsupportedMediaType, "unsupported_content_encoding", "Send the body as it is, or as gzip.")
    }
    guard !body.isEmpty else { return body }
    return try unzipped(body)
  }

  private static func unzipped(_ body: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    // 15 is the window's size; 16 more is gzip alone.
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw malformed
    }
    defer { inflateEnd(&stream) }
    var (input, output) = (body, [UInt8](repeating: 0, count: RequestBody.maximumBytes + 1))
    let result = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(clamping: source.count))
        (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(clamping: target.count))
        return inflate(&stream, Z_FINISH)
      }
    }
    let count = Int(stream.total_out)
    guard count <= RequestBody.maximumBytes else {
      throw Problem(.contentTooLarge, "body_too_large", "The body is longer than \(RequestBody.maximumBytes) bytes.")
    }
    guard result == Z_STREAM_END, stream.avail_in == 0 else { throw malformed }
    return Array(output.prefix(count))
  }

  private static let malformed = Problem(.badRequest, "malformed_gzip", "The body is not gzip.")
}
