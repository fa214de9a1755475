package import Hummingbird
import HTTPTypes
import NIOCore

/// Reads the body of a request within a limit.
package enum BodyReader {
  package enum Failure: Error, Hashable {
    /// The media type is not JSON.
    case unsupportedType
    case tooLong(limit: Int)
    /// The chunks are malformed, or the connection ended.
    case interrupted
    /// The other long bodies have reserved all the memory of a ``BodyBudget``.
    case noRoom
  }

  /// The bytes of a JSON body. Pages of other origins can send any other media type without a preflight request.
  package static func json(_ request: Request, limit: Int) async throws -> [UInt8] {
    guard isJSON(request) else { throw Failure.unsupportedType }
    return try await collect(request, limit: limit)
  }

  /// The bytes of a body of any media type; empty when there is none.
  package static func collect(_ request: Request, limit: Int) async throws -> [UInt8] {
    try await collect(request, limit: limit, beginning: limit, mayGoOn: { _ in }, reserve: { _ in })
  }

  /// Reads the beginning of a body, and asks before it reads the rest of a longer one.
  ///
  /// - Parameters:
  ///   - beginning: how many bytes are read without asking.
  ///   - mayGoOn: is given the beginning of a longer body. Throws what refuses the rest.
  ///   - reserve: is given how long a longer body has become, as often as more of it arrives. Throws what refuses the rest.
  package static func collect(
    _ request: Request, limit: Int, beginning: Int, mayGoOn: (_ beginning: [UInt8]) throws -> Void,
    reserve: (_ length: Int) throws -> Void
  ) async throws -> [UInt8] {
    let length = request.headers[.contentLength].flatMap { Int($0) } ?? limit
    guard length <= limit else { throw Failure.tooLong(limit: limit) }
    var bytes: [UInt8] = []
    var pieces = request.body.makeAsyncIterator()
    while let piece = try await next(&pieces) {
      let count = bytes.count + piece.readableBytes
      guard count <= limit else { throw Failure.tooLong(limit: limit) }
      if count > beginning {
        if bytes.count <= beginning {
          try mayGoOn(bytes + piece.readableBytesView.prefix(beginning - bytes.count))
        }
        try reserve(count)
      }
      bytes += piece.readableBytesView
    }
    return bytes
  }

  private static func next(_ pieces: inout RequestBody.AsyncIterator) async throws -> ByteBuffer? {
    do { return try await pieces.next() } catch let error as CancellationError { throw error } catch {
      throw Failure.interrupted
    }
  }

  private static func isJSON(_ request: Request) -> Bool {
    let type = request.headers[.contentType]?.prefix { $0 != ";" }
    return type?.lowercased().split(separator: " ") == ["application/json"]
  }
}
