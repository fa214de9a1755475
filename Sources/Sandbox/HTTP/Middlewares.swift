import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import StrictJSON

/// Turns everything that is thrown into `{code, message}`.
struct ProblemMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let problem = problem(for: error, context)
      return .json(problem.json, status: problem.status)
    }
  }

  private func problem(for error: any Error, _ context: SandboxContext) -> SandboxProblem {
    switch error {
    case let problem as SandboxProblem: return problem
    case let error as JSONError:
      return SandboxProblem(status: 400, code: "invalid_request", message: "The body is not as it should be: \(error)")
    case is NIOTooManyBytesError:
      return SandboxProblem(status: 413, code: "too_large", message: "The body is longer than 64 KiB.")
    case let error as any HTTPResponseError:
      return SandboxProblem(
        status: error.status.code, code: error.status == .notFound ? "not_found" : "refused",
        message: "The sandbox answers \(error.status.code) \(error.status.reasonPhrase) to this path or method.")
    default:
      context.logger.error("The sandbox failed", metadata: ["error": "\(error)"])
      return SandboxProblem(status: 500, code: "internal_error", message: "The sandbox failed; its log says why.")
    }
  }
}

/// Lets pages of any origin use the device and load the script, as any page can use a real device's.
///
/// The portal and the management calls are closed to pages of other origins, which could otherwise register merchants
/// behind a developer's back.
struct OpenToPages: RouterMiddleware {
  typealias Context = SandboxContext

  private let cors = CORSMiddleware<SandboxContext>(
    allowOrigin: .all, allowHeaders: [.contentType], allowMethods: [.get, .post, .options], maxAge: .seconds(600))

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    guard Self.isOpen(request.uri.path) else {
      guard Self.isOwn(request.headers[.origin], request.head.authority) else {
        return .json(Self.closed.json, status: 403)
      }
      return try await next(request, context)
    }
    return try await cors.handle(request, context: context, next: next)
  }

  private static let closed = SandboxProblem(
    status: 403, code: "origin_refused", message: "Pages of other origins may use the device, and nothing else here.")

  /// Programs send no origin; the front page's is our own.
  private static func isOwn(_ origin: String?, _ authority: String?) -> Bool {
    origin == nil || origin == authority.map { "http://\($0)" }
  }

  private static func isOpen(_ path: String) -> Bool {
    path.hasPrefix("/device/") || path.hasSuffix(".js") || path.hasSuffix(".css") || path == "/sandbox/ca.json"
  }
}
