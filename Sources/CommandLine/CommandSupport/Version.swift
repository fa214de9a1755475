package import ArgumentParser
import CBuild

/// The version of a program, and the commit that it was built from.
package enum Version {
  static let number = "0.1.0"
  /// Empty where the build was not told it.
  static let commit = String(cString: build_commit())

  /// `0.1.0 (678a853d)`
  package static let text = commit.isEmpty ? number : "\(number) (\(commit))"
}

/// `tender version`, `tender-sandbox version`
package struct VersionCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "version", abstract: "Prints the version's number.")
  @Flag(help: "Print JSON.") var json = false

  package init() {}

  package func run() throws {
    guard json else { return Terminal.say(Version.number) }
    Terminal.say(try Terminal.json(["version": Version.number, "commit": Version.commit].filter { !$0.value.isEmpty }))
  }
}
