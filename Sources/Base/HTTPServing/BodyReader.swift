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
  }

  /// The bytes of a JSON body. Pages of other origins can send any other media type without a preflight request.
  package static func json(_ request: Request, limit: Int) async throws -> [UInt8] {
    guard isJSON(request) else { throw Failure.unsupportedType }
    return try await collect(request, limit: limit)
  }

  /// The bytes of a body of any media type; empty when there is none.
  package static func collect(_ request: Request, limit: Int) async throws -> [UInt8] {
    do {
      return Array(try await request.body.collect(upTo: limit).readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Failure.tooLong(limit: limit)
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw Failure.interrupted
    }
  }

  private static func isJSON(_ request: Request) -> Bool {
    let type = request.headers[.contentType]?.prefix { $0 != ";" }
    return type?.lowercased().split(separator: " ") == ["application/json"]
  }
}
