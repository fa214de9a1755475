import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// The body of a call of the shop's own page. Only JSON, which no page of another origin can send without asking.
enum RequestBody {
  static func decode<T: Decodable>(_ type: T.Type, _ request: Request) async throws -> T {
    guard request.headers[.contentType]?.hasPrefix("application/json") == true else {
      throw ShopError(.unsupportedMediaType, "unsupported_media_type", "Send the body as application/json.")
    }
    do {
      let body = try await request.body.collect(upTo: 16_384)
      return try StrictJSONDecoder().decode(type, from: Array(body.readableBytesView))
    } catch is NIOTooManyBytesError {
      throw ShopError(.contentTooLarge, "body_too_large", "An order is at most 16 KiB.")
    } catch let error as JSONError {
      throw ShopError(.badRequest, "invalid_order", "\(error)")
    }
  }
}
