import TenderTesting
import Testing

@Suite struct `The app kit and the transcripts` {
  @Test(arguments: try FlowTranscript.all())
  func `does what the transcript says`(_ transcript: FlowTranscript) async throws {
    let player = TranscriptPlayer()
    let app = await player.listen()
    for step in transcript.steps {
      let seen = try await player.play(step)
      #expect(
        seen == step.effects.sorted(), "\(transcript.name).txt:\(step.line), \(step.event.joined(separator: " "))")
    }
    app.cancel()
  }

  @Test func `is noticed when it does something else`() async throws {
    let transcript = try FlowTranscript(
      name: "mutant", text: "A page that receives another report\n\n> page pressed\n< page unavailable other\n")
    let player = TranscriptPlayer()
    let app = await player.listen()
    let seen = try await player.play(transcript.steps[0])
    app.cancel()
    #expect(seen != transcript.steps[0].effects)
  }
}
