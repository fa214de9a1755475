import StrictJSON

/// The members of a JSON object that a caller sent. Its errors name the member and never repeat a value.
struct CallFields {
  private let field: JSONField
  private let code: TokenCallError.Code

  init(_ bytes: [UInt8], limit: Int, _ code: TokenCallError.Code) throws(TokenCallError) {
    do {
      self.init(JSONField(try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: limit))), code)
    } catch {
      throw TokenCallError(code, "not JSON (\(error.code.rawValue))")
    }
  }

  private init(_ field: JSONField, _ code: TokenCallError.Code) { (self.field, self.code) = (field, code) }

  var path: String { field.path }

  /// Another value of the same call.
  func at(_ field: JSONField) -> CallFields { CallFields(field, code) }

  func mistake(_ reason: String) -> TokenCallError { TokenCallError(code, reason, field: path) }

  /// Reads members, and names the one at fault.
  func read<Value>(_ body: (JSONField) throws -> Value) throws(TokenCallError) -> Value {
    do { return try body(field) } catch {
      guard let error = error as? JSONError else { throw mistake("not as described") }
      throw TokenCallError(code, error.reason, field: error.path)
    }
  }

  /// Refuses a member that is none of these: a misspelt one would be ignored.
  func allow(_ known: Set<String>) throws(TokenCallError) {
    let object = try read { try $0.object }
    guard let other = object.firstKey(where: { !known.contains($0) }) else { return }
    let name = other.utf8.count <= 40 ? "\(other) is" : "a long name is"
    throw mistake("\(name) no member here; these are: \(known.sorted().joined(separator: ", "))")
  }
}
