import ArgumentParser

@main
struct Tender: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tender", abstract: "Apple Pay acceptance, end to end, on your own machines.",
    subcommands: [TokenCommand.self])
}
