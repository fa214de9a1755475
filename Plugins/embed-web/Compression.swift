import CZlib
import Foundation

#if canImport(CBrotli)
  import CBrotli
#endif

/// The content codings in which files are embedded, by their names in HTTP. The same file always gives the same bytes.
enum Compression {
  #if canImport(CBrotli)
    static let codings = ["br": brotli, "gzip": gzip]
  #else
    static let codings = ["gzip": gzip]
  #endif

  struct Failure: Error {}

  /// RFC 1952, without a file name or a time.
  static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    var stream = z_stream()
    let withGzipHeader: Int32 = 15 + 16
    guard
      deflateInit2_(
        &stream, Z_BEST_COMPRESSION, Z_DEFLATED, withGzipHeader, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { throw Failure() }
    defer { deflateEnd(&stream) }
    var (input, output) = (bytes, [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(bytes.count)))))
    let status = input.withUnsafeMutableBufferPointer { input in
      output.withUnsafeMutableBufferPointer { output in
        (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
        (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
        return deflate(&stream, Z_FINISH)
      }
    }
    guard status == Z_STREAM_END else { throw Failure() }
    return Array(output.prefix(Int(stream.total_out)))
  }

  #if canImport(CBrotli)
    /// RFC 7932.
    static func brotli(_ bytes: [UInt8]) throws -> [UInt8] {
      var length = BrotliEncoderMaxCompressedSize(bytes.count)
      var output = [UInt8](repeating: 0, count: length)
      let isDone = BrotliEncoderCompress(
        BROTLI_MAX_QUALITY, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.count, bytes, &length, &output)
      guard isDone == BROTLI_TRUE else { throw Failure() }
      return Array(output.prefix(length))
    }
  #endif
}
