package import StrictJSON

extension JSONObject {
  /// Leaves out the members that have no value.
  package static func of(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    var object = JSONObject()
    for (key, value) in members { object[key] = value }
    return .object(object)
  }
}
