import ArgumentParser
import CommandSupport
import Settings
import TenderServer

/// The names of the commands, for what ArgumentParser accepts or reports without help: a misspelt name.
enum CommandNames {
  /// - Parameter arguments: what follows `tender`.
  /// - Returns: what to say of the first word that stands where a subcommand belongs and is none; nil when all are.
  static func error(in arguments: [String]) -> String? {
    var (command, path) = (Tender.self as any ParsableCommand.Type, "tender")
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      let subcommands = command.configuration.subcommands
      guard !word.hasPrefix("-"), !subcommands.isEmpty else { return nil }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        let help = command == Tender.self ? ["help"] : []
        return unknown(word, below: path, among: subcommands.map { $0._commandName } + help)
      }
      (command, path) = (next, "\(path) \(word)")
    }
    return nil
  }

  private static func unknown(_ word: String, below path: String, among names: [String]) -> String {
    let advice = Spelling.nearest(to: word, among: names).map { "; did you mean `\(path) \($0)`?" } ?? ""
    return "there is no command `\(path) \(word)`\(advice.isEmpty ? "; `\(path) --help` lists them" : advice)"
  }
}

/// `tender version`
struct VersionCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "version", abstract: "Prints the version.")
  @Flag(help: "Print JSON.") var json = false

  func run() throws {
    let version = Tender.configuration.version
    Terminal.say(json ? try Terminal.json(["version": version]) : version)
  }
}
