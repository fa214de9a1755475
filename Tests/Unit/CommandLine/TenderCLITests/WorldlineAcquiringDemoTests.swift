import TenderTesting
import Testing

/// The demo through an acquirer's API that neither decrypts payment tokens nor sends events.
@Suite(.serialized) struct `A demo through the emulated Worldline Acquiring` {
  @Test func `takes the payments of both shops`() async throws {
    let port = try FreePorts.row(of: 6)
    let workshop = try Workshop()
    let demo = "tender-sandbox demo --port \(port) --connector worldline-acquiring"
    try await workshop.with(demo, sign: "Ctrl-C ends it") { demo in
      let commands = demo.lines.compactMap { $0.firstMatch(of: /: +(\S*tender(?:-sandbox)? pay.*)/)?.output.1 }
      #expect(commands.count == 2, "\(demo.lines)")
      for command in commands {
        let answer = try await workshop.run(String(command))
        #expect(answer.exitCode == 0 && answer.lines.count > 1, "\(command): \(answer.lines)")
      }
      #expect(await demo.terminate() == 0)
    }
  }

  @Test func `refuses sealed payment tokens, and says why`() async throws {
    let workshop = try Workshop()
    let answer = try await workshop.run("tender-sandbox demo --sealed --connector worldline-acquiring")
    #expect(answer.exitCode != 0)
    #expect(answer.lines.contains { $0.contains("does not decrypt payment tokens") }, "\(answer.lines)")
  }
}
