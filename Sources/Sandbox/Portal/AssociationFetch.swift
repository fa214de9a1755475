/// How the portal reads a domain's association file. Handed in, because the sandbox itself opens no connections.
public struct AssociationFetch: Sendable {
  /// Gets a URL without following redirects: status and body.
  public let get: @Sendable (_ url: String) async throws -> (status: Int, body: [UInt8])

  public init(get: @escaping @Sendable (_ url: String) async throws -> (status: Int, body: [UInt8])) { self.get = get }

  /// Reaches nothing: every verification fails.
  public static let unavailable = AssociationFetch { _ in
    throw SandboxProblem(
      status: 422, code: "domain_not_verified", message: "This sandbox was started without a way to fetch files.")
  }
}
