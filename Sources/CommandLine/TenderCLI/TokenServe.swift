import ApplePayToken
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import KeyAgent
import ServiceLifecycle
import Storage
import StrictJSON
import TenderPayments
import TokenCalls

/// `tender token serve`
struct TokenServe: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Verify and decrypt payment tokens for programs in any language.",
    discussion: """
      Calls and answers are lines of JSON: on a socket of this machine, which one user may open, or on standard input and \
      output. The private keys stay in this process; their files must be readable by their owner alone. Without a key it \
      verifies and cannot decrypt. Without --environment and --root it accepts production alone.
      """)

  @Option(help: ArgumentHelp("Listen on this socket.", valueName: "path"))
  var socket: String?
  @Flag(help: "Read calls from standard input, until it ends, and answer on standard output.") var stdio = false
  @OptionGroup var options: KeyOptions
  @OptionGroup var trust: TrustOptions
  @Option(help: "How many payment tokens are remembered, for calls that spend them.") var replayWindow: Int?
  @Option(help: "The number of the user who may ask; this process's own by default. Only root can name another.")
  var client: UInt32?
  @Flag(help: "Print the socket as a line of JSON.") var json = false

  func validate() throws {
    guard (socket == nil) == stdio else { throw ValidationError("Give either --socket or --stdio.") }
    guard options.key.isEmpty || options.namesMerchant else {
      throw ValidationError("Give either --certificate or --merchant-id.")
    }
    guard client == nil || !stdio else { throw ValidationError("--client is for --socket.") }
    guard replayWindow.map({ $0 > 0 }) ?? true else { throw ValidationError("--replay-window is a number above 0.") }
  }

  func run() async throws {
    try ProcessMemory.forbidDumps()
    let accepted = try trust.environment == nil && trust.root.isEmpty ? trust.trust().only(.production) : trust.trust()
    let keys = TokenKeys(try options.keys { try PrivateFile.text($0) }, trusting: accepted, capacity: replayWindow)
    guard let socket else { return Self.answerLines(with: keys) }
    let server: TokenLineServer
    do { server = try TokenLineServer(path: socket, client: client, holding: keys, version: Version.text) } catch {
      throw CallFailure(error.reason)
    }
    let line = Terminal.jsonLine(["socket": .string(socket)])
    Terminal.say(json ? line : "tender answers calls about payment tokens at \(socket)")
    let logger = Terminal.logger("tender.tokens")
    try await ServiceRunner(first: TokenLineService(server: server), named: "payment tokens", logger: logger).run()
  }

  private static func answerLines(with keys: TokenKeys) {
    var lines = StandardInputLines(limit: TokenKeys.lineLimit)
    while let line = lines.next() {
      let text =
        line.map { keys.answer(line: $0, version: Version.text, now: WallClock.system.now()) }
        ?? TokenKeys.answerToLongLine
      Terminal.say(bytes: text)
    }
  }
}

/// Runs the server until the process is asked to end.
private struct TokenLineService: Service {
  let server: TokenLineServer

  func run() async throws {
    await withGracefulShutdownHandler {
      await server.untilStopped()
    } onGracefulShutdown: {
      server.stop()
    }
  }
}

/// The lines of standard input, each at most as long as the limit.
private struct StandardInputLines {
  private let limit: Int
  private var rest: [UInt8] = []
  private var isAtEnd = false

  init(limit: Int) { self.limit = limit }

  /// The next line, of which there is an inner nil when it is too long; the outer nil after the last.
  mutating func next() -> [UInt8]?? {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest.removeFirst(end + 1) }
        return .some(end <= limit ? Array(rest[..<end]) : nil)
      }
      guard rest.count <= limit else {
        (isAtEnd, rest) = (true, [])
        return .some(nil)
      }
      guard !isAtEnd else {
        defer { rest = [] }
        return rest.isEmpty ? nil : .some(rest)
      }
      read()
    }
  }

  private mutating func read() {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = Foundation.read(STDIN_FILENO, &piece, piece.count)
    if count > 0 { rest += piece.prefix(count) } else { isAtEnd = count == 0 || errno != EINTR }
  }
}
