import Logging
import NIOCore
import NIOSSL

/// Reads the lines of an SMTP connection and answers them.
final class MailboxHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var conversation = SMTPConversation()
  private var received = ByteBuffer()
  private let mailbox: Mailbox
  private let tls: NIOSSLContext

  init(_ mailbox: Mailbox, _ tls: NIOSSLContext) { (self.mailbox, self.tls) = (mailbox, tls) }

  func channelActive(context: ChannelHandlerContext) {
    write(SMTPConversation.greeting, context)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    while let line = nextLine() {
      guard let reply = conversation.read(line) else { continue }
      answer(reply, context)
    }
    received.discardReadBytes()
    guard received.readableBytes <= SMTPConversation.maximumLine else {
      write("500 5.5.2 The line is too long\r\n", context)
      return context.close(promise: nil)
    }
  }

  /// Without its CRLF; nil until there is one. A lone line feed ends no line.
  private func nextLine() -> [UInt8]? {
    let bytes = received.readableBytesView
    var start = bytes.startIndex
    while let feed = bytes[start...].firstIndex(of: 0x0A) {
      if feed > bytes.startIndex, bytes[bytes.index(before: feed)] == 0x0D {
        let line = received.readBytes(length: feed - bytes.startIndex + 1) ?? []
        return Array(line.dropLast(2))
      }
      start = bytes.index(after: feed)
    }
    return nil
  }

  private func answer(_ reply: SMTPConversation.Reply, _ context: ChannelHandlerContext) {
    if let delivery = reply.delivered { mailbox.take(delivery) }
    write(reply.text, context)
    switch reply.action {
    case .goOn: break
    case .close: context.close(promise: nil)
    case .startTLS: startTLS(context)
    }
  }

  /// What was sent in plain before the handshake is thrown away, and never read as if it had come over TLS.
  private func startTLS(_ context: ChannelHandlerContext) {
    received.clear()
    conversation.becomeSecure()
    do {
      try context.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls), position: .first)
    } catch {
      context.close(promise: nil)
    }
  }

  private func write(_ text: String, _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
    context.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
