import ArgumentParser
struct PayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "pay", abstract: "One payment.")
}
