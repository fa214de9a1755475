import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON

/// Why the acquirer rejects a call.
struct AcquirerProblem: Error, Sendable, Hashable {
  let status: Int
  /// Stable, for programs: `duplicate_reference`.
  let code: String
  let message: String

  static let notFound = AcquirerProblem(status: 404, code: "not_found", message: "no such operation or authorization")
  static let duplicate = AcquirerProblem(
    status: 409, code: "duplicate_reference", message: "the reference names another operation")

  static let tooLong = AcquirerProblem(
    status: 413, code: "too_large", message: "the body is longer than 64 KiB")

  static func invalid(_ field: String) -> AcquirerProblem {
    AcquirerProblem(status: 400, code: "invalid_request", message: "\(field) is not what it must be")
  }

  var response: Response {
    JSONAnswer.response(["code": .string(code), "message": .string(message)], status: .init(code: status))
  }
}
