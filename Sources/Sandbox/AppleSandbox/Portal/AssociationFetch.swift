/// How the portal reads a domain's association file. The caller provides it, because the sandbox itself opens no
/// connections.
package struct AssociationFetch: Sendable {
  /// Gets a URL without following redirects: status and body.
  package let get: @Sendable (_ url: String) async throws -> (status: Int, body: [UInt8])

  package init(get: @escaping @Sendable (_ url: String) async throws -> (status: Int, body: [UInt8])) { self.get = get }

  /// Reaches nothing: every verification fails.
  package static let unavailable = AssociationFetch { _ in
    throw SandboxProblem(
      status: 422, code: "domain_not_verified", message: "This sandbox was started without a way to fetch files.")
  }
}
