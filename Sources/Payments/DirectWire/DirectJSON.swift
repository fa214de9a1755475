import Foundation
import StrictJSON

/// JSON of the wire: the same value is the same bytes, and members that nothing here reads are ignored.
package enum DirectJSON {
  package static func bytes(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(value))
  }

  /// - Throws: `JSONError` with the path of what is wrong.
  package static func read<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try StrictJSONDecoder().decode(type, from: bytes)
  }
}
