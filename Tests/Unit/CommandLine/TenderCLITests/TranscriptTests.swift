import ApplePayToken
import Foundation
import Storage
import TenderTesting
import Testing

@Suite struct `At the command line` {
  @Test(arguments: ["usage.txt", "configuration.txt", "serving.txt"])
  func `what is typed is answered as written down`(_ file: String) async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop(variables: ["PORT": "\(port)", "NEXT": "\(port + 1)"])
    for difference in try await Transcript(file: file).differences(in: workshop) { Issue.record("\(difference)") }
  }

  @Test func `payment tokens are made as written down`() async throws {
    let workshop = try TokenFixtures().workshop
    for difference in try await Transcript(file: "token-create.txt").differences(in: workshop) {
      Issue.record("\(difference)")
    }
  }

  @Test func `a payment token is explained as written down`() async throws {
    let workshop = try TokenFixtures().workshop
    for difference in try await Transcript(file: "token.txt").differences(in: workshop) {
      Issue.record("\(difference)")
    }
  }

  @Test func `what is printed of a signature's form and of novelties is explained`() throws {
    let page = try Repository.text("docs/errors.md")
    let kinds = SignerMonitor.Novelty.Kind.allCases.map(\.rawValue)
    let forms = [WireForm.of2014, .since2015, .since2023].map { "\($0)" }
    for word in ["wireForm", "novelties"] + kinds + forms { #expect(page.contains("`\(word)`"), "\(word)") }
  }

  @Test func `the README's commands for a payment token do what it says`() async throws {
    let blocks = try Repository.text("README.md").matches(of: /```sh\n((?s).*?)```/).map(\.output.1)
    let block = try #require(blocks.first { $0.contains("tender-sandbox token create") })
    // The program is built already.
    let commands = block.split(separator: "\n").filter { !$0.hasPrefix("scripts/build") }
    #expect(commands.count == 6)
    let answer = try await Workshop().run(commands.joined(separator: " && "))
    #expect(answer.exitCode == 0, "\(answer.lines)")
    #expect(answer.lines.contains("verified and decrypted: 12.50 EUR"), "\(answer.lines)")
  }

  @Test func `both programs are installed with completions that their shells can read`() async throws {
    let install = Repository.url("scripts/install").path
    let answer = try await Workshop().run(
      "TENDER=$(command -v tender) MANUAL=no PREFIX=$PWD/usr '\(install)' && usr/bin/tender version"
        + " && bash -n usr/share/bash-completion/completions/tender"
        + " && grep -q '#compdef tender' usr/share/zsh/site-functions/_tender"
        + " && grep -q 'complete -c ' usr/share/fish/vendor_completions.d/tender.fish"
        + " && usr/bin/tender-sandbox version"
        + " && bash -n usr/share/bash-completion/completions/tender-sandbox"
        + " && grep -q '#compdef tender-sandbox' usr/share/zsh/site-functions/_tender-sandbox")
    #expect(answer.exitCode == 0, "\(answer.lines)")
  }

  @Test func `a store of another version is refused with what to do`() async throws {
    let workshop = try Workshop()
    let other = Migration("ledger-1", "CREATE TABLE payments (id TEXT PRIMARY KEY NOT NULL);\n")
    try await Database.sqlite(path: workshop.path + "/tender.db", migrations: [other]).close()
    let answer = try await workshop.run("tender store migrate --to tender.db")
    #expect(answer.exitCode == 1)
    let line = answer.lines.joined()
    for part in ["another version of Tender (its migration ledger-1", "run that version", "delete its folder"] {
      #expect(line.contains(part), "\(line)")
    }
  }

  @Test(arguments: ["", "--json"]) func `the account number is shown on demand alone`(_ form: String) async throws {
    let workshop = try TokenFixtures().workshop
    let decrypt =
      "tender token decrypt token.json --at $AT --root root.pem --key processing.key --merchant-id $MERCHANT"
    let masked = try await workshop.run("\(decrypt) \(form)")
    #expect(masked.exitCode == 0)
    #expect(!masked.lines.contains { $0.contains(TokenFixtures.accountNumber) })
    let revealed = try await workshop.run("\(decrypt) \(form) --reveal")
    #expect(revealed.lines.contains { $0.contains(TokenFixtures.accountNumber) })
  }
}

@Suite struct `A transcript reports differences` {
  @Test(arguments: [
    (["a"], ["b"]), (["a"], []), ([], ["a"]), (["a", "b"], ["a"]), (["x=12 y"], ["x=[..] z"]), (["ab"], ["b[..]"]),
    (["a", "c"], ["a", "...", "b"]),
  ])
  func `a line that differs, is missing, or is too much`(_ lines: [String], _ expected: [String]) {
    #expect(!Transcript.matches(lines, expected))
  }

  @Test(arguments: [
    (["a", "", "b"], ["a", "b"]), (["x=12 y"], ["x=[..] y"]), (["a", "b", "c"], ["a", "...", "c"]),
    (["a"], ["a", "..."]),
    (["one two three"], ["[..]two[..]"]),
  ])
  func `a wildcard stands for anything`(_ lines: [String], _ expected: [String]) {
    #expect(Transcript.matches(lines, expected))
  }

  @Test func `another exit code, and another output`() async throws {
    let text = "$ echo a; exit 3\na\n? 3\n$ echo a\nb\n$ exit 1\n"
    let differences = try await Transcript("changed", text: text).differences(in: Workshop())
    #expect(differences.map { $0.prefix(10) } == ["changed:4:", "changed:6:"])
  }
}

@Suite struct `A key agent at the command line` {
  @Test func `holds the keys of every merchant's folder`() async throws {
    let workshop = try TokenFixtures().workshop
    _ = try await workshop.run("mkdir -p merchants/m1/processing && cp processing.* merchants/m1/processing/")
    let agent = "tender key-agent --merchants merchants --socket keys.sock"
    try await workshop.with(agent, sign: "tender holds 1 key at keys.sock") { program in
      for difference in try await Transcript(file: "keys.txt").differences(in: workshop) {
        Issue.record("\(difference)")
      }
      #expect(await program.terminate() == 0)
    }
    #expect(try await workshop.run("ls keys.sock").exitCode != 0, "its socket goes with it")
  }
}
