import CMailTransfer
import Foundation
import HTTPTransport
import Synchronization
import TenderPayments

/// What became of one try to deliver, or to connect.
package struct SMTPResult: Sendable, Hashable {
  package enum Stage: Int32, Sendable, Hashable {
    /// Delivered; without a message, connected and authenticated.
    case done, connection, tls, authentication, message
  }

  /// How far it came.
  package let stage: Stage
  /// The server's last answer, or why there was none.
  package let words: String
  /// The last code of SMTP; 0 for none.
  package let code: Int

  package init(_ stage: Stage, _ words: String, code: Int = 0) {
    (self.stage, self.words, self.code) = (stage, words, code)
  }

  /// Whether the server refused this message for good, RFC 5321 §4.2.1: another try would end in the same way.
  package var isPermanent: Bool { stage == .message && (500..<600).contains(code) }
}

/// How messages leave. Tests hand in their own.
package struct MailTransport: Sendable {
  /// Delivers a message.
  package let send: @Sendable (MailMessage, SMTPServer) async -> SMTPResult
  /// Connects and authenticates, and sends nothing.
  package let probe: @Sendable (SMTPServer) async -> SMTPResult

  package init(
    send: @escaping @Sendable (MailMessage, SMTPServer) async -> SMTPResult,
    probe: @escaping @Sendable (SMTPServer) async -> SMTPResult
  ) {
    (self.send, self.probe) = (send, probe)
  }

  /// By libcurl. Certificates are verified against the name, and TLS is 1.2 or later.
  package static let smtp = MailTransport(
    send: { message, server in
      let (from, to, bytes) = (message.from.text, message.recipient.text, message.bytes)
      return await onThread { transfer(server, from, to, bytes) }
    },
    probe: { server in await onThread { transfer(server, "", nil, []) } })

  /// libcurl blocks, for half a minute if it must, so each transfer has a thread of its own. A caller who is cancelled
  /// does not wait for its end.
  private static func onThread(_ work: @escaping @Sendable () -> SMTPResult) async -> SMTPResult {
    let result = OneResult()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        result.wait(continuation)
        Thread { result.set(work()) }.start()
      }
    } onCancel: {
      result.set(SMTPResult(.connection, "interrupted"))
    }
  }

  private static func transfer(
    _ server: SMTPServer, _ from: String, _ to: String?, _ bytes: [UInt8]
  ) -> SMTPResult {
    var (answer, problem) = ([CChar](repeating: 0, count: 1_024), [CChar](repeating: 0, count: 256))
    var code = 0
    let (proxy, login) = (server.proxy, server.proxy?.credentials)
    let address = proxy.map { "http://\($0)" }
    let stage = mail_transfer_run(
      server.url, server.security == .startTLS ? 1 : 0, server.user, server.password, server.rootsPEM,
      server.egress.rootsPEM, address, login?.user, login?.password, from, to, bytes, bytes.count,
      milliseconds(SMTPServer.connectTime), milliseconds(SMTPServer.totalTime), &code, &answer, answer.count, &problem,
      problem.count)
    let reached = SMTPResult.Stage(rawValue: stage) ?? .connection
    return SMTPResult(reached, words(reached, said: text(answer), problem: text(problem)), code: code)
  }

  /// The server's answer is what counts, where it said anything about the message or the user.
  private static func words(_ stage: SMTPResult.Stage, said: String, problem: String) -> String {
    switch stage {
    case .done: said
    case .connection, .tls: problem
    case .authentication, .message: said.isEmpty ? problem : "\(said) (\(problem))"
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int { Int(duration.microseconds / 1_000) }

  private static func text(_ bytes: [CChar]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Hands the first of several results to one waiting caller.
private final class OneResult: Sendable {
  private struct State {
    var result: SMTPResult?
    var continuation: CheckedContinuation<SMTPResult, Never>?
  }

  private let state = Mutex(State())

  func wait(_ continuation: CheckedContinuation<SMTPResult, Never>) {
    let early = state.withLock { state -> SMTPResult? in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let early { continuation.resume(returning: early) }
  }

  func set(_ result: SMTPResult) {
    let waiting = state.withLock { state -> CheckedContinuation<SMTPResult, Never>? in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.continuation = nil }
      return state.continuation
    }
    waiting?.resume(returning: result)
  }
}
