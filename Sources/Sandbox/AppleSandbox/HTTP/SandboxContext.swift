import Foundation
import HTTPServing
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
  /// The body as JSON, of any media type.
  func json() async throws -> JSONField {
    JSONField(try JSONReader.read(try await BodyReader.collect(self, limit: SandboxContext.maximumBody)))
  }
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
