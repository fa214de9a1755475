import HTTPServing
import HTTPTypes
import Hummingbird
import Logging
import StrictJSON
import TokenIssuer

/// Renders errors as `{code, message}`.
struct ProblemMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      return problem(for: error, context).response
    }
  }

  private func problem(for error: any Error, _ context: SandboxContext) -> SandboxProblem {
    switch error {
    case let problem as SandboxProblem: return problem
    case let error as TokenIssuerError:
      return SandboxProblem(status: 400, code: error.code, message: error.message)
    case let error as JSONError:
      return SandboxProblem(status: 400, code: "invalid_request", message: "The body is not as it should be: \(error)")
    case BodyReader.Failure.tooLong:
      return SandboxProblem(status: 413, code: "too_large", message: "The body is longer than 64 KiB.")
    case BodyReader.Failure.interrupted:
      return SandboxProblem(status: 400, code: "invalid_request", message: "The body is incomplete.")
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

/// Makes browsers take each answer as the media type that it states.
struct MediaTypeMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    response.headers[.xContentTypeOptions] = "nosniff"
    return response
  }
}

/// Lets pages of any origin use the device and load the script, as any page can use a real device.
///
/// Everything else is closed to pages of other origins, which could otherwise register merchants unnoticed, and to host
/// names other than this machine's, because DNS rebinding gives another page our origin.
struct PageAccessMiddleware: RouterMiddleware {
  typealias Context = SandboxContext

  /// The address that the sandbox listens on.
  let host: String

  private let cors = CORSMiddleware<SandboxContext>(
    allowOrigin: .all, allowHeaders: [.contentType], allowMethods: [.get, .post, .options], maxAge: .seconds(600))

  func handle(
    _ request: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
  ) async throws -> Response {
    guard Self.isOpen(request.uri.path) else {
      guard OwnHost(host).isNamed(by: request.head.authority) else {
        return Self.foreign.response
      }
      guard Self.isOwn(request.headers[.origin], request.head.authority) else {
        return Self.closed.response
      }
      return try await next(request, context)
    }
    return try await cors.handle(request, context: context, next: next)
  }

  private static let closed = SandboxProblem(
    status: 403, code: "origin_refused", message: "Pages of other origins may use the device, and nothing else here.")

  private static let foreign = SandboxProblem(
    status: 403, code: "host_refused",
    message: "The sandbox is called by a loopback name or address, or by the address that it listens on.")

  /// Programs send no origin; the front page's is our own.
  private static func isOwn(_ origin: String?, _ authority: String?) -> Bool {
    origin == nil || origin == authority.map { "http://\($0)" }
  }

  private static func isOpen(_ path: String) -> Bool {
    path.hasPrefix("/device/") || path.hasSuffix(".js") || path.hasSuffix(".css") || path == "/sandbox/ca.json"
  }
}

/// The host names under which programs and pages of this machine call the sandbox.
struct OwnHost: Sendable {
  private let configured: String

  /// - Parameter configured: the address that the sandbox listens on.
  init(_ configured: String) { self.configured = configured.lowercased() }

  /// Whether a `Host` header names a loopback address, `localhost` or a name below it, or the sandbox's own address.
  ///
  /// - Parameter authority: host and port; nil when the call has none, which no browser sends.
  func isNamed(by authority: String?) -> Bool {
    guard let host = authority.flatMap(Self.host) else { return false }
    return host == configured || host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
      || Self.isLoopbackAddress(host)
  }

  /// The host in small letters, without port and brackets; nil for what is not `host[:port]` in plain ASCII.
  private static func host(of authority: String) -> String? {
    guard authority.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else { return nil }
    let text = authority.lowercased()
    let isBracketed = text.hasPrefix("[")
    guard let end = isBracketed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex else {
      return nil
    }
    let rest = text[end...].dropFirst(isBracketed ? 1 : 0)
    guard rest.isEmpty || rest.first == ":" && rest.dropFirst().allSatisfy(\.isNumber) else { return nil }
    return String(text[..<end].dropFirst(isBracketed ? 1 : 0))
  }

  /// 127.0.0.0/8 in four decimal parts: a name such as `127.0.0.1.evil.example` is not an address.
  private static func isLoopbackAddress(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    return parts.count == 4 && parts.allSatisfy { $0 != nil } && parts[0] == 127
  }
}
