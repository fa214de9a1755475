import TenderPayments

/// The server's side of an SMTP connection, RFC 5321, with STARTTLS (RFC 3207) and AUTH (RFC 4954), line by line.
///
/// Stricter than it must be: mail is taken only over TLS and from the one user, and lines must end in CRLF.
package struct SMTPConversation: Sendable {
  /// What the server says, and what it does then.
  struct Reply: Sendable {
    enum Action: Sendable { case goOn, startTLS, close }

    let text: String
    var action = Action.goOn
    /// What the mailbox has taken.
    var delivered: SMTPDelivery?
  }

  package static let user = "tender"
  package static let password = "sandbox-mailbox"
  static let maximumLine = 1_000
  static let maximumMessage = 1 << 20
  private static let maximumRecipients = 100

  private enum State: Sendable { case commands, passwordOf(user: String?), plain, data }

  private var state = State.commands
  private(set) var isSecure = false
  private var hasGreeted = false
  private var isAuthenticated = false
  private var sender: String?
  private var recipients: [String] = []
  private var message: [UInt8] = []

  static let greeting = "220 sandbox.invalid ESMTP Tender sandbox, not a real mail server\r\n"

  /// After TLS has begun nothing counts that was said before it.
  mutating func becomeSecure() {
    self = SMTPConversation()
    isSecure = true
  }

  /// - Parameter line: without its CRLF.
  /// - Returns: nil in the midst of a message.
  mutating func read(_ line: [UInt8]) -> Reply? {
    switch state {
    case .data: return data(line)
    case .plain: return authenticate(plain: String(decoding: line, as: UTF8.self))
    case .passwordOf(let user): return login(user, String(decoding: line, as: UTF8.self))
    case .commands: return command(String(decoding: line, as: UTF8.self))
    }
  }

  private mutating func command(_ line: String) -> Reply {
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1] : ""
    switch parts.first?.uppercased() ?? "" {
    case "EHLO", "HELO": return greet(rest)
    case "STARTTLS": return startTLS()
    case "AUTH": return authenticate(rest)
    case "MAIL": return mail(rest)
    case "RCPT": return recipient(rest)
    case "DATA": return startData()
    case "RSET": return reset()
    case "NOOP": return Reply(text: "250 2.0.0 OK\r\n")
    case "QUIT": return Reply(text: "221 2.0.0 Bye\r\n", action: .close)
    default: return Reply(text: "502 5.5.1 Command not known here\r\n")
    }
  }

  private mutating func greet(_ name: String) -> Reply {
    guard !name.isEmpty else { return Reply(text: "501 5.5.4 A name belongs after EHLO\r\n") }
    hasGreeted = true
    let features = isSecure ? ["AUTH PLAIN LOGIN"] : ["STARTTLS"]
    let lines = ["sandbox.invalid"] + features + ["SIZE \(Self.maximumMessage)"]
    return Reply(text: lines.map { "250-\($0)\r\n" }.joined() + "250 8BITMIME\r\n")
  }

  private func startTLS() -> Reply {
    guard !isSecure else { return Reply(text: "503 5.5.1 TLS has begun already\r\n") }
    return Reply(text: "220 2.0.0 Ready to start TLS\r\n", action: .startTLS)
  }

  private mutating func reset() -> Reply {
    (sender, recipients, message) = (nil, [], [])
    return Reply(text: "250 2.0.0 OK\r\n")
  }
}

// Who may send.
extension SMTPConversation {
  private mutating func authenticate(_ rest: String) -> Reply {
    guard isSecure else { return Reply(text: "538 5.7.11 Encryption is needed first\r\n") }
    let parts = rest.split(separator: " ").map(String.init)
    switch (parts.first?.uppercased(), parts.count) {
    case ("PLAIN", 2): return authenticate(plain: parts[1])
    case ("PLAIN", 1):
      state = .plain
      return Reply(text: "334 \r\n")
    case ("LOGIN", 1):
      state = .passwordOf(user: nil)
      return Reply(text: "334 VXNlcm5hbWU6\r\n")
    default: return Reply(text: "504 5.5.4 PLAIN or LOGIN\r\n")
    }
  }

  /// `authorization NUL user NUL password`, in base64.
  private mutating func authenticate(plain text: String) -> Reply {
    let fields = (Base64.decode(text) ?? []).split(separator: 0, omittingEmptySubsequences: false).map(Array.init)
    guard fields.count == 3 else { return refuse() }
    return accept(fields[1], fields[2])
  }

  private mutating func login(_ user: String?, _ text: String) -> Reply {
    guard let bytes = Base64.decode(text) else { return refuse() }
    guard let user else {
      state = .passwordOf(user: String(decoding: bytes, as: UTF8.self))
      return Reply(text: "334 UGFzc3dvcmQ6\r\n")
    }
    return accept(Array(user.utf8), bytes)
  }

  private mutating func accept(_ user: [UInt8], _ password: [UInt8]) -> Reply {
    guard user == Array(Self.user.utf8), password == Array(Self.password.utf8) else { return refuse() }
    (state, isAuthenticated) = (.commands, true)
    return Reply(text: "235 2.7.0 Authenticated\r\n")
  }

  private mutating func refuse() -> Reply {
    state = .commands
    return Reply(text: "535 5.7.8 User or password is wrong\r\n")
  }
}

// A message.
extension SMTPConversation {
  private mutating func mail(_ rest: String) -> Reply {
    guard hasGreeted else { return Reply(text: "503 5.5.1 EHLO comes first\r\n") }
    guard isSecure else { return Reply(text: "530 5.7.0 STARTTLS comes first\r\n") }
    guard isAuthenticated else { return Reply(text: "530 5.7.0 AUTH comes first\r\n") }
    guard let address = Self.path(rest, after: "FROM:") else { return Reply(text: "501 5.5.4 MAIL FROM:<…>\r\n") }
    (sender, recipients, message) = (address, [], [])
    return Reply(text: "250 2.1.0 OK\r\n")
  }

  /// Two local parts let tests see what a server may say.
  private mutating func recipient(_ rest: String) -> Reply {
    guard sender != nil else { return Reply(text: "503 5.5.1 MAIL comes first\r\n") }
    guard let address = Self.path(rest, after: "TO:"), address.contains("@") else {
      return Reply(text: "501 5.5.4 RCPT TO:<…>\r\n")
    }
    guard !address.hasPrefix("refused@") else { return Reply(text: "550 5.1.1 No such mailbox\r\n") }
    guard !address.hasPrefix("later@") else { return Reply(text: "451 4.3.0 Try again later\r\n") }
    guard recipients.count < Self.maximumRecipients else { return Reply(text: "452 4.5.3 Too many recipients\r\n") }
    recipients.append(address)
    return Reply(text: "250 2.1.5 OK\r\n")
  }

  private mutating func startData() -> Reply {
    guard !recipients.isEmpty else { return Reply(text: "503 5.5.1 RCPT comes first\r\n") }
    state = .data
    return Reply(text: "354 End with a dot on a line of its own\r\n")
  }

  private mutating func data(_ line: [UInt8]) -> Reply? {
    let dot = UInt8(ascii: ".")
    guard line == [dot] else {
      if message.count <= Self.maximumMessage {
        message += (line.first == dot ? Array(line.dropFirst()) : line) + [0x0D, 0x0A]
      }
      return nil
    }
    state = .commands
    defer { (sender, recipients, message) = (nil, [], []) }
    guard message.count <= Self.maximumMessage else { return Reply(text: "552 5.3.4 The message is too long\r\n") }
    let delivery = SMTPDelivery(sender: sender ?? "", recipients: recipients, message: message)
    return Reply(text: "250 2.0.0 Taken into the sandbox's mailbox\r\n", delivered: delivery)
  }

  /// The address between the angle brackets; what follows it are options.
  private static func path(_ text: String, after word: String) -> String? {
    guard text.uppercased().hasPrefix(word) else { return nil }
    let rest = text.dropFirst(word.count).drop { $0 == " " }
    guard rest.first == "<", let end = rest.firstIndex(of: ">") else { return nil }
    return String(rest[rest.index(after: rest.startIndex)..<end])
  }
}

/// A message with its envelope.
package struct SMTPDelivery: Sendable, Hashable {
  package let sender: String
  package let recipients: [String]
  package let message: [UInt8]
}
