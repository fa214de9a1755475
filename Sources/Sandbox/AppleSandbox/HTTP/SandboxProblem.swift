import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON

/// Why the sandbox rejects a call. The gateway's errors have Apple's form: ``GatewayError``.
package struct SandboxProblem: Error, Sendable, Hashable {
  /// The HTTP status it is answered with.
  package let status: Int
  /// Stable, for programs: `session_expired`.
  package let code: String
  /// For people: what is wrong and what to do.
  package let message: String

  package init(status: Int, code: String, message: String) {
    self.status = status
    self.code = code
    self.message = message
  }
  var response: Response {
    JSONAnswer.response(["code": .string(code), "message": .string(message)], status: .init(code: status))
  }
}
