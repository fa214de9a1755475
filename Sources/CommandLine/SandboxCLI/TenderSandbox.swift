import ArgumentParser
import CommandSupport
import Demo

@main
struct TenderSandbox: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tender-sandbox",
    abstract: "A simulated Apple, bank and shop for tests of Tender, and payment tokens. NOT for production.",
    version: "tender-sandbox \(Version.text)",
    subcommands: [
      DemoCommand.self, SandboxCommand.self, ShopCommand.self, PayCommand.self, TokenCommand.self, VersionCommand.self,
    ])

  static func main() async { await runProgram() }
}

/// `tender-sandbox token`
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make payment tokens. `tender token` inspects, verifies and decrypts them.",
    subcommands: [TokenCreate.self])
}
