import ArgumentParser
import CommandSupport
import Foundation
import StrictJSON
import TenderPayments

/// `tender token judge`
struct TokenJudge: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "judge", abstract: "Run another reader of payment tokens over the conformance vectors.",
    discussion: """
      The command is started once for each vector. It reads one line of JSON from standard input: token in base64, \
      privateKey, merchantIdentifier, root and at, the time of arrival. It ends with exit code 0 when it opens the token, \
      and may print the JSON that is inside; with 1 when it refuses. What it does wrongly is printed by flag.
      """)

  /// In the folder of the sources.
  private static let ownVectors = "Tests/Support/Vectors/apple-pay-token/vectors.json"

  @Option(
    help: ArgumentHelp(
      "The vectors; in the folder of Tender's sources, by default those of its tests.", valueName: "file"))
  var vectors: String?
  @Option(help: "Only vectors with this flag; may be repeated.") var flag: [String] = []
  @Option(help: "After how many seconds a run is ended.") var timeout = 10
  @Option(help: "How many run at a time; by default as many as there are cores.") var jobs: Int?
  @Flag(help: "Print JSON.") var json = false
  @Argument(parsing: .postTerminator, help: "The command, after --.") var command: [String] = []

  func validate() throws {
    guard !command.isEmpty else { throw ValidationError("Name the command after --, for example: -- node reader.mjs") }
    guard timeout > 0, jobs ?? 1 > 0 else { throw ValidationError("--timeout and --jobs are numbers above 0.") }
  }

  func run() async throws {
    guard vectors != nil || FileManager.default.fileExists(atPath: Self.ownVectors) else {
      throw MistakenCall("name the vectors: --vectors FILE; it is \(Self.ownVectors) of Tender's sources")
    }
    let suite = try VectorSuite(file: vectors ?? Self.ownVectors)
    if let unknown = flag.first(where: { suite.notes[$0] == nil }) {
      let known = suite.notes.keys.sorted().joined(separator: ", ")
      throw MistakenCall("no vector has the flag \(unknown); the flags are \(known)")
    }
    let chosen = suite.vectors.filter { vector in flag.isEmpty || vector.flags.contains(where: flag.contains) }
    let program = JudgedProgram(command, timeout: .seconds(timeout))
    let width = jobs ?? ProcessInfo.processInfo.activeProcessorCount
    let findings = try await Self.findings(chosen, program, width: width)
    let judgement = Judgement(suite: suite, count: chosen.count, findings: findings)
    Terminal.say(json ? judgement.json : judgement.text)
    guard findings.isEmpty else { throw ExitCode(1) }
  }

  private static func findings(
    _ vectors: [VectorSuite.Vector], _ program: JudgedProgram, width: Int
  ) async throws -> [Finding] {
    let place = FileManager.default.temporaryDirectory.appending(path: "tender-judge-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    return try await withThrowingTaskGroup(of: Finding?.self) { group in
      var (findings, rest) = ([Finding](), vectors[...])
      for _ in 0..<width {
        guard let vector = rest.popFirst() else { break }
        group.addTask { try await program.finding(about: vector, in: place) }
      }
      while let found = try await group.next() {
        if let found { findings.append(found) }
        if let vector = rest.popFirst() { group.addTask { try await program.finding(about: vector, in: place) } }
      }
      return findings.sorted { $0.vector.number < $1.vector.number }
    }
  }
}

/// What a reader did wrongly with a vector.
struct Finding: Sendable {
  enum Kind: String, CaseIterable {
    case accepted = "accepted wrongly"
    case differs = "opened as something else"
    case refused = "refused wrongly"
    case broken = "crashed or late"
  }

  let vector: VectorSuite.Vector
  let kind: Kind
  /// How it ended, if it neither opened nor refused.
  let detail: String?
}

/// The conformance vectors as a file has them.
struct VectorSuite: Sendable {
  struct Vector: Sendable {
    let number: Int64
    let name: String
    let flags: [String]
    /// `valid`, `acceptable` or `invalid`.
    let result: String
    let paymentData: String?
    /// What the reader is given, a line of JSON.
    let call: [UInt8]
  }

  let vectors: [Vector]
  /// By flag, what it stands for and what a reader that accepts it suffers.
  let notes: [String: (description: String, effect: String?)]

  init(file: String) throws {
    let bytes = try NamedFile.bytes(file)
    do {
      let document = JSONField(try JSONReader.read(bytes, limits: JSONLimits(depth: 16, size: 64 << 20)))
      vectors = try document.member("testGroups").array.flatMap { group in
        try group.member("tests").array.map { try Vector($0, in: group) }
      }
      notes = Dictionary(
        uniqueKeysWithValues: try document.member("notes").object.members.map { flag, note in
          let note = JSONField(note)
          return (flag, (try note.member("description").string, try note.memberIfPresent("effect")?.string))
        })
    } catch let error as JSONError {
      throw MistakenCall("\(file): no file of vectors: \(error.path ?? "its text"): \(error.reason)")
    }
  }
}

extension VectorSuite.Vector {
  fileprivate init(_ test: JSONField, in group: JSONField) throws {
    number = try test.member("tcId").integer
    name = try test.member("name").string
    flags = try test.member("flags").array.map { try $0.string }
    result = try test.member("result").string
    paymentData = try test.memberIfPresent("paymentData")?.string
    var call: JSONObject = ["name": .string(name)]
    for key in ["token", "at"] { call[key] = .string(try test.member(key).string) }
    for key in ["version", "merchantIdentifier", "privateKey", "root"] {
      call[key] = .string(try group.member(key).string)
    }
    self.call = JSONValue.object(call).serialized() + [UInt8(ascii: "\n")]
  }
}

/// What is printed of the findings.
private struct Judgement {
  let suite: VectorSuite
  let count: Int
  let findings: [Finding]

  /// What is wrong by kind and, below it, by flag; a vector stands below each of its flags.
  var text: String {
    let parts = Finding.Kind.allCases.flatMap { kind -> [String] in
      let found = findings.filter { $0.kind == kind }
      guard !found.isEmpty else { return [] }
      return ["\(kind.rawValue): \(found.count)"] + flags(of: found).flatMap { lines($0, found, kind) }
    }
    return (parts + ["\(count - findings.count) of \(count) vectors as expected"]).joined(separator: "\n")
  }

  private func flags(of findings: [Finding]) -> [String] { Set(findings.flatMap(\.vector.flags)).sorted() }

  private func lines(_ flag: String, _ found: [Finding], _ kind: Finding.Kind) -> [String] {
    let own = found.filter { $0.vector.flags.contains(flag) }
    let all = suite.vectors.count { $0.flags.contains(flag) }
    let names = own.map { $0.vector.name + ($0.detail.map { " (\($0))" } ?? "") }
    let note = suite.notes[flag]
    let effect = kind == .accepted ? note?.effect ?? note?.description : note?.description
    return ["  \(flag), \(own.count) of \(all): \(names.joined(separator: ", "))"]
      + (effect.map { ["    \($0)"] } ?? [])
  }

  var json: String {
    let list = findings.map { finding -> JSONValue in
      var members: JSONObject = [
        "name": .string(finding.vector.name), "finding": .string(finding.kind.rawValue),
        "flags": .array(finding.vector.flags.map(JSONValue.string)),
      ]
      members["detail"] = finding.detail.map(JSONValue.string)
      return .object(members)
    }
    return Terminal.jsonLine(["vectors": .integer(Int64(count)), "findings": .array(list)])
  }
}
