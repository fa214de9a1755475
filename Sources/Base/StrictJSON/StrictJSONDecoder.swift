/// `Decodable` types from strictly read JSON.
///
/// Integers come from JSON integers only, and nothing is decoded as a `Double`. Unknown members are ignored. Every
/// error of the document is a ``JSONError`` that names the path; an error that a type throws passes through.
public struct StrictJSONDecoder: Sendable {
  private let limits: JSONLimits

  public init(limits: JSONLimits = .standard) { self.limits = limits }

  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try decode(type, from: try JSONReader.read(bytes, limits: limits))
  }

  public func decode<T: Decodable>(_ type: T.Type, from value: JSONValue) throws -> T {
    do {
      return try ValueDecoder(value: value, place: .root).decode(type)
    } catch let error as DecodingError {
      throw JSONError(error)
    }
  }
}

extension JSONValue: Decodable {
  /// From a ``StrictJSONDecoder`` only: other decoders lose order and number text.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? ValueDecoder else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a JSONValue is decoded by StrictJSONDecoder only"))
    }
    self = decoder.value
  }
}

extension JSONError {
  /// The ``JSONError`` for a decoder's error.
  init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context): self.init(.missing, path: Self.path(context.codingPath + [key]), "missing")
    case .valueNotFound(_, let context):
      self.init(.missing, path: Self.path(context.codingPath), context.debugDescription)
    case .typeMismatch(_, let context):
      self.init(.wrongType, path: Self.path(context.codingPath), context.debugDescription)
    case .dataCorrupted(let context): self.init(.invalid, path: Self.path(context.codingPath), context.debugDescription)
    @unknown default: self.init(.invalid, path: "$", "not what was expected")
    }
  }

  static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce(into: "$") { path, key in
      if let index = key.intValue { path += "[\(index)]" } else { path += ".\(key.stringValue)" }
    }
  }
}
