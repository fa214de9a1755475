import HTTPTransport
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// A request's body, read within limits and parsed by the strict reader.
enum RequestBody {
  /// A payment token with two contacts is under 16 KiB.
  static let maximumBytes = 65_536
  static let deadline = Duration.seconds(10)

  static func json(_ request: Request) async throws -> JSONField {
    try read(try await bytes(request))
  }

  static func read(_ bytes: [UInt8]) throws -> JSONField { try refusing { JSONField(try JSONReader.read(bytes)) } }

  static func decode<T: Decodable>(_ type: T.Type, _ request: Request) async throws -> T {
    let bytes = try await bytes(request)
    return try refusing { try StrictJSONDecoder().decode(type, from: bytes) }
  }

  /// Turns the reader's errors into refusals that name the property.
  static func refusing<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let error as JSONError {
      guard let path = error.path else {
        throw Problem(.badRequest, "malformed_json", "The body is not JSON that Tender accepts: \(error).")
      }
      throw Problem(.badRequest, "invalid_body", "\(error)", field: path)
    }
  }

  /// The raw body. Only JSON: any other type could be sent across origins without asking first.
  static func bytes(_ request: Request) async throws -> [UInt8] {
    let type = request.headers[.contentType]?.split(separator: ";").first.map { $0.lowercased() }
    guard type?.trimmingSpaces == "application/json" else {
      throw Problem(.unsupportedMediaType, "unsupported_media_type", "Send the body as application/json.")
    }
    return try await collect(request)
  }

  /// The raw body of any type; empty when there is none.
  static func collect(_ request: Request) async throws -> [UInt8] {
    try await Deadline.run(deadline) { try await bounded(request) }
  }

  private static func bounded(_ request: Request) async throws -> [UInt8] {
    do {
      return Array(try await request.body.collect(upTo: maximumBytes).readableBytesView)
    } catch is NIOTooManyBytesError {
      throw Problem(.contentTooLarge, "body_too_large", "The body is longer than \(maximumBytes) bytes.")
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      // Chunks that are none, or a connection that ended: what reads a body has no faults of its own.
      throw RequestHeadRules.malformed
    }
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...]
    while text.last == " " { text.removeLast() }
    return String(text.drop { $0 == " " })
  }
}

/// A bound on how long something may take.
enum Deadline {
  static func run<R: Sendable>(_ limit: Duration, _ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let late = Problem(
      .requestTimeout, "request_timeout", "The request did not arrive within \(limit.components.seconds) s.")
    return try await TimeLimits.shared.run(until: .now.advanced(by: limit), late: late, body)
  }
}
