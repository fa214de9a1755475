import Foundation
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import TokenCalls
import TokenVectors

/// The conformance vectors, and keys for them as a program in another language opens them.
enum CallFixtures {
  static let library = Result {
    try VectorLibrary(directory: Repository.url("Tests/Support/Vectors/apple-pay-token").path)
  }

  static func vector(_ name: String) throws -> TokenVector { try #require(try library.get().vector(name)) }

  /// What is passed to open the keys of the vector's merchant.
  static func settings(_ vector: TokenVector, window: Int64? = nil) -> [UInt8] {
    var settings: JSONObject = [
      "keys": [["privateKey": .string(vector.key), "merchantIdentifier": .string(vector.merchant)]],
      "environment": "simulated", "root": .string(vector.root),
    ]
    settings["replayWindow"] = window.map(JSONValue.integer)
    return JSONValue.object(settings).serialized()
  }

  static func keys(_ vector: TokenVector) throws -> TokenKeys { try TokenKeys(settings: settings(vector)) }
}

extension TokenKeys {
  /// The answer to a call.
  func answer(_ call: JSONObject) throws -> JSONValue {
    let line = answer(line: JSONValue.object(call).serialized(), version: "1", now: Timestamp(seconds: 0))
    return try JSONReader.read(line)
  }

  /// The answer to a call about a vector, as of its arrival.
  func answer(_ call: String, _ vector: TokenVector, _ more: JSONObject = [:]) throws -> JSONValue {
    var members: JSONObject = [
      "call": .string(call), "token": .string(Base64.encode(vector.token)), "at": .string(vector.arrival.description),
    ]
    for (key, value) in more.members { members[key] = value }
    return try answer(members)
  }
}
