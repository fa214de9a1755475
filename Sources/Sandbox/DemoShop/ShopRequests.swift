import HTTPServing
import Hummingbird
import StrictJSON

extension Request {
  private static let maximumBytes = 16_384

  /// The body that the shop's own page sent.
  func decode<T: Decodable>(_ type: T.Type) async throws -> T {
    do {
      return try StrictJSONDecoder().decode(type, from: try await BodyReader.json(self, limit: Self.maximumBytes))
    } catch let error as JSONError {
      throw ShopError(.badRequest, "invalid_order", "\(error)")
    } catch BodyReader.Failure.unsupportedType {
      throw ShopError(.unsupportedMediaType, "unsupported_media_type", "Send the body as application/json.")
    } catch BodyReader.Failure.tooLong {
      throw ShopError(.contentTooLarge, "body_too_large", "An order is at most 16 KiB.")
    } catch BodyReader.Failure.interrupted {
      throw ShopError(.badRequest, "malformed_request", "The request ended before its end.")
    }
  }
}
