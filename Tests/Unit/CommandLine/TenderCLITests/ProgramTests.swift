import Foundation
import StrictJSON
import TenderTesting
import Testing

@Suite struct `Of the two programs` {
  /// What `tender` may not hold.
  private static let apart = Result {
    let sandbox = try FileManager.default.contentsOfDirectory(atPath: Repository.url("Sources/Sandbox").path)
    return (sandbox + ["Demo", "SandboxCLI"]).sorted()
  }

  /// The modules of ours that a program holds, by the symbols that begin with them.
  private func modules(in program: String) async throws -> [String] {
    let names = try Self.apart.get()
    let symbols = names.map { "[$]s\($0.utf8.count)\($0)" }.joined(separator: "|")
    let found = try await Workshop().run("LC_ALL=C grep -aoE '\(symbols)' \"$(command -v \(program))\" | sort -u").lines
    return names.filter { found.contains("$s\($0.utf8.count)\($0)") }
  }

  @Test func `tender holds nothing that makes payment tokens or plays Apple, a bank or a shop`() async throws {
    let found = try await modules(in: "tender")
    #expect(found == [])
  }

  @Test func `tender-sandbox holds all that makes payment tokens or plays Apple, a bank or a shop`() async throws {
    let found = try await modules(in: "tender-sandbox")
    #expect(try found == Self.apart.get())
  }

  @Test func `tender hands on every command that tender-sandbox alone has`() async throws {
    let dump = try await Workshop().run("tender-sandbox --experimental-dump-help").lines.joined(separator: "\n")
    let root = JSONField(try JSONReader.read(Array(dump.utf8)))
    let commands = try Self.commands(try root.member("command")).filter { !["help", "version"].contains($0) }
    #expect(Set(commands) == ["demo", "sandbox clock", "shop", "pay", "token create"])
    for command in commands + ["sandbox"] {
      let answer = try await Workshop().run("tender \(command) --help && tender help \(command)")
      #expect(answer.exitCode == 0)
      let usages = answer.lines.count { $0.hasPrefix("USAGE: tender-sandbox \(command)") }
      #expect(usages == 2, "\(command): \(answer.lines)")
    }
  }

  /// The words of every command that has none below it.
  private static func commands(_ command: JSONField, _ path: [String] = []) throws -> [String] {
    guard let below = try? command.member("subcommands").array else { return [path.joined(separator: " ")] }
    return try below.flatMap { try commands($0, path + [try $0.member("commandName").string]) }
  }

  @Test func `the other one is looked for beside tender and then on the path, with the arguments as they are`()
    async throws
  {
    let place = try Workshop()
    let make = """
      mkdir bin path && cp "$(command -v tender)" bin/ && export PATH=$PWD/path:/usr/bin:/bin
      for place in bin path; do
        printf '#!/bin/sh\\nprintf "[%%s]" '$place' "$@"; exit 5' > $place/tender-sandbox && chmod +x $place/tender-sandbox
      done
      """
    let beside = try await place.run("\(make)\nbin/tender pay --card 'a b' ''")
    #expect(beside.lines == ["[bin][pay][--card][a b][]"] && beside.exitCode == 5, "\(beside)")
    let onPath = try await place.run(
      "export PATH=$PWD/path:/usr/bin:/bin; rm bin/tender-sandbox; bin/tender token create")
    #expect(onPath.lines == ["[path][token][create]"] && onPath.exitCode == 5, "\(onPath)")
    let nowhere = try await place.run("PATH=/usr/bin:/bin; rm path/tender-sandbox; bin/tender demo --port 1")
    #expect(nowhere.exitCode == 2)
    #expect(
      nowhere.lines == [
        "Error: `tender demo` is a command of the program tender-sandbox, which is neither beside tender nor on the "
          + "PATH: install the package tender-sandbox, or in a clone run `scripts/build tender-sandbox`"
      ])
  }
}
