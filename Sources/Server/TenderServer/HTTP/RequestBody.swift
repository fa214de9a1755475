import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON

/// A request's body, read within 64 KiB and parsed by the strict reader. How long it may take: ``ConnectionTimes``.
enum RequestBody {
  /// A payment token with two contacts is under 16 KiB.
  static let maximumBytes = 65_536

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

  /// The raw body, which must be JSON.
  static func bytes(_ request: Request) async throws -> [UInt8] {
    try await BodyReader.json(request, limit: maximumBytes)
  }

  /// The raw body of any type; empty when there is none.
  static func collect(_ request: Request) async throws -> [UInt8] {
    try await BodyReader.collect(request, limit: maximumBytes)
  }
}

extension Problem {
  init(_ failure: BodyReader.Failure) {
    self =
      switch failure {
      case .unsupportedType:
        Problem(.unsupportedMediaType, "unsupported_media_type", "Send the body as application/json.")
      case .tooLong(let limit):
        Problem(.contentTooLarge, "body_too_large", "The body is longer than \(limit) bytes.")
      case .interrupted: Problem(RequestHeadRules.malformed)
      case .noRoom:
        Problem(.serviceUnavailable, "overloaded", "Other bodies are being read. Repeat the call.", retryAfter: 5)
      }
  }
}
