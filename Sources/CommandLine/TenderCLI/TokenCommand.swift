import ArgumentParser

/// `tender token …`: why does this payment token not work?
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Inspect, verify and decrypt payment tokens, and judge who does.",
    discussion: "`tender-sandbox token create` makes some, signed by a sandbox.",
    subcommands: [TokenInspect.self, TokenVerify.self, TokenDecrypt.self, TokenServe.self, TokenJudge.self])
}
