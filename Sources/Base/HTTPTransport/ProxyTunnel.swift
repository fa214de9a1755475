import AsyncHTTPClient
package import NIOCore
import NIOHTTP1
import NIOPosix

extension Egress {
  /// Opens a connection for what is not HTTP: nothing has been sent on it yet.
  ///
  /// - Parameters:
  ///   - address: where the name leads to, as far as it was resolved here.
  ///   - seconds: for the connection, and for the proxy's answer.
  /// - Throws: ``ProxyRefusal`` where the proxy does not connect.
  package func connect(
    to host: String, port: Int, at address: String? = nil, within seconds: Int64 = 5
  ) async throws -> any Channel {
    guard let proxy = proxy(to: host, port: port, at: address) else {
      return try await Self.open(address ?? host, port, seconds)
    }
    return try await proxy.connect(to: address ?? host, port: port, within: seconds)
  }

  fileprivate static func open(_ host: String, _ port: Int, _ seconds: Int64) async throws -> any Channel {
    try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(seconds))
      .connect(host: host, port: port).get()
  }
}

extension Egress.Proxy {
  /// Has the proxy connect to a host.
  ///
  /// - Throws: ``ProxyRefusal`` where the proxy is not there, or does not connect.
  package func connect(
    to host: String, port: Int, within seconds: Int64 = 5
  ) async throws(ProxyRefusal) -> any Channel {
    let channel: any Channel
    do { channel = try await Egress.open(self.host, self.port, seconds) } catch {
      throw ProxyRefusal(status: nil, description: "the proxy cannot be reached")
    }
    let answered = channel.eventLoop.makePromise(of: Int.self)
    let late = channel.eventLoop.scheduleTask(in: .seconds(seconds)) { answered.fail(ChannelError.eof) }
    do {
      try await ask(for: host, port, over: channel, answered)
      let status = try await answered.futureResult.get()
      late.cancel()
      guard (200..<300).contains(status) else { throw ProxyRefusal(status: status, description: refusal(status)) }
      return channel
    } catch {
      late.cancel()
      // Ignored where it is complete.
      answered.fail(error)
      channel.close(promise: nil)
      throw error as? ProxyRefusal ?? ProxyRefusal(status: nil, description: "the proxy does not answer")
    }
  }

  private func ask(
    for host: String, _ port: Int, over channel: any Channel, _ answered: EventLoopPromise<Int>
  ) async throws {
    let authority = NetworkAddress.authority(host, port)
    var headers = HTTPHeaders([("Host", authority)])
    if let authorization { headers.add(name: "Proxy-Authorization", value: authorization.headerValue) }
    let head = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority, headers: headers)
    try await channel.eventLoop.submit {
      let encoder = HTTPRequestEncoder()
      let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .forwardBytes))
      try channel.pipeline.syncOperations.addHandlers([encoder, decoder, ConnectAnswer(answered)])
      channel.write(HTTPClientRequestPart.head(head), promise: nil)
      channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }.get()
  }
}

/// Why a proxy made no connection. Nothing was sent to the destination.
package struct ProxyRefusal: Error, CustomStringConvertible {
  /// The status of the proxy's answer; nil where it gave none.
  package let status: Int?
  package let description: String

  package init(status: Int?, description: String) { (self.status, self.description) = (status, description) }
}

/// Reads the answer to CONNECT, and takes HTTP off the connection.
private final class ConnectAnswer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPClientResponsePart
  private let answered: EventLoopPromise<Int>
  private var status = 0

  init(_ answered: EventLoopPromise<Int>) { self.answered = answered }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      status = Int(head.status.code)
      if !(200..<300).contains(status) { answered.succeed(status) }
    case .body: break
    case .end:
      takeOff(context.pipeline.syncOperations)
      answered.succeed(status)
    }
  }

  private func takeOff(_ pipeline: ChannelPipeline.SynchronousOperations) {
    guard let decoder = try? pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self),
      let encoder = try? pipeline.handler(type: HTTPRequestEncoder.self)
    else { return }
    _ = (pipeline.removeHandler(self), pipeline.removeHandler(decoder), pipeline.removeHandler(encoder))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    answered.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { answered.fail(ChannelError.eof) }
}
