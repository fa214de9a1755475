package import HummingbirdCore
package import NIOCore

extension HTTPServerBuilder {
  /// HTTP/1.1 as every listener speaks it: requests whose head breaks the ``RequestHeadRules`` are refused.
  ///
  /// - Parameters:
  ///   - refusal: makes the answer to them.
  ///   - outer: handlers that see refused requests too.
  ///   - inner: handlers that see the others alone.
  package static func strict(
    refusal: @escaping RequestHeadHandler.Refusal = { problem, _ in problem.answer },
    outer: @escaping @Sendable () -> [any RemovableChannelHandler] = { [] },
    inner: @escaping @Sendable () -> [any RemovableChannelHandler] = { [] }
  ) -> HTTPServerBuilder {
    .http1(
      configuration: .init(
        additionalChannelHandlers: outer() + [RequestHeadHandler(refusal)] + inner(),
        httpDecoderConfiguration: RequestHeadRules.decoderLimits))
  }
}
