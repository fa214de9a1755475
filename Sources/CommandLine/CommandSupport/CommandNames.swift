import ArgumentParser
import Settings

/// The names of the commands, for what ArgumentParser accepts or reports without help: a misspelt name.
enum CommandNames {
  /// - Parameters:
  ///   - arguments: what follows the program's name.
  ///   - others: commands that another program has, which may be meant too.
  /// - Returns: what to say of the first word that stands where a subcommand belongs and is none; nil when all are.
  static func error(
    in arguments: [String], of program: any ParsableCommand.Type, besides others: [String]
  ) -> String? {
    var (command, path) = (program, program._commandName)
    for word in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
      let subcommands = command.configuration.subcommands
      guard !word.hasPrefix("-"), !subcommands.isEmpty else { return nil }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        let more = command == program ? others + ["help"] : []
        return unknown(word, below: path, among: subcommands.map { $0._commandName } + more)
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
