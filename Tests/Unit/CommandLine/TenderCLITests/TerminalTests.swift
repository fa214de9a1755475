import Testing

@Suite struct `What a command prints` {
  @Test(arguments: [
    (#"\033[2J"#, #"\u001b[2J"#), (#"\302\2332J"#, #"\u009b2J"#), (#"\177"#, #"\u007f"#),
    (#"\342\200\256"#, #"\u202e"#),
    (#"\342\200\213"#, #"\u200b"#), (#"\360\223\220\260"#, #"\ud80d\udc30"#),
  ])
  func `holds no character from outside that a terminal takes for a command or that changes the order of others`(
    bytes: String, shown: String
  ) async throws {
    let place = try Workshop()
    let answer = try await place.run("tender \"no-command-$(printf '\(bytes)')-of-ours\" 2>&1")
    let text = answer.lines.joined(separator: "\n")
    #expect(text.contains("no-command-\(shown)-of-ours"), "\(text.debugDescription)")
  }

  @Test func `keeps letters of every script, and the joiners of emoji`() async throws {
    let answer = try await Workshop().run("tender 'no-command-Zoë-می‌خواهم-👩‍🍳' 2>&1")
    #expect(answer.lines.joined().contains("no-command-Zoë-می‌خواهم-👩‍🍳"))
  }
}
