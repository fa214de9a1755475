import Foundation
import Hummingbird
import NIOCore
import StrictJSON

/// The context of a request: it adds the connection, whose client certificate the gateway reads.
struct SandboxContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }

  /// The longest body that the sandbox accepts: 64 KiB.
  static let maximumBody = 65_536
  var maxUploadSize: Int { Self.maximumBody }
}

extension Request {
  /// The body, up to 64 KiB.
  func bytes() async throws -> [UInt8] {
    Array(buffer: try await body.collect(upTo: SandboxContext.maximumBody))
  }

  /// The body as JSON.
  func json() async throws -> JSONField { JSONField(try JSONReader.read(await bytes())) }
}

extension SandboxContext {
  /// The part of the path with this name, percent-decoded.
  func parameter(_ name: String) throws -> String {
    guard let text = parameters.get(name)?.removingPercentEncoding, !text.isEmpty else {
      throw SandboxProblem(status: 404, code: "not_found", message: "The path lacks \(name).")
    }
    return text
  }
}
