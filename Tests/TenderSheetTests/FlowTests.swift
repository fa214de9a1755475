import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `The sheet's flow` {
  @Test(arguments: try FlowTranscript.all())
  func `does what the transcript says`(_ transcript: FlowTranscript) throws {
    var player = FlowPlayer()
    for step in transcript.steps {
      let effects = try player.play(step.event)
      #expect(effects == step.effects, "\(transcript.name).txt:\(step.line), \(step.event.joined(separator: " "))")
    }
  }
}
