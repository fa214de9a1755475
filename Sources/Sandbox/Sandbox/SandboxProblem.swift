/// Why the sandbox refuses a call: what its HTTP answers say, and what its in-process callers catch.
///
/// Apple's own error bodies, which look different, are ``GatewayRefusal``s.
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
}
