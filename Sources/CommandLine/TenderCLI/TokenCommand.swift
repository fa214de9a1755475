import ArgumentParser

/// `tender token …`: why does this payment token not work?
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Inspect, verify, decrypt and make payment tokens.",
    subcommands: [TokenInspect.self, TokenVerify.self, TokenDecrypt.self, TokenCreate.self])
}
