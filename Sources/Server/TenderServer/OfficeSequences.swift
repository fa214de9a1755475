import BackOffice
import Telemetry
import TenderPayments

extension TraceBook {
  /// As the office draws them.
  var sequences: [OfficeSequence] {
    newest.map { basket, trace in
      OfficeSequence(basket: basket, began: trace.start, steps: trace.calls.flatMap { $0.steps(since: trace.start) })
    }
  }
}

extension PaymentTrace.Call {
  /// The browser's call, what the server asked of others meanwhile, and its answer.
  fileprivate func steps(since start: Timestamp) -> [OfficeSequence.Step] {
    let asked = OfficeSequence.Step(
      from: .browser, to: .server, name: [call.name, moment].compactMap(\.self).joined(separator: ", "),
      details: parts.map {
        (name: $0.step, text: [$0.milliseconds, $0.answer].compactMap(\.self).joined(separator: ", "))
      }, at: call.start.since(start))
    let answered = OfficeSequence.Step(
      from: .server, to: .browser, name: "HTTP \(status)", details: [(name: "whole", text: call.milliseconds)],
      at: call.end.since(start))
    return [asked] + parts.flatMap { $0.steps(since: start) } + [answered]
  }
}

extension FinishedSpan {
  fileprivate var end: Timestamp { start.adding(time) }
  fileprivate var milliseconds: String { "\(Double(time.microseconds) / 1_000) ms" }

  /// A question to another party and its answer; nothing where the server did it by itself.
  fileprivate func steps(since begin: Timestamp) -> [OfficeSequence.Step] {
    guard let (party, question) = asked else { return [] }
    let result = [(name: "after", text: milliseconds), (name: "outcome", text: answer ?? "answered")]
    return [
      .init(from: .server, to: party, name: question, details: [], at: start.since(begin)),
      .init(from: party, to: .server, name: answer ?? "answered", details: result, at: end.since(begin)),
    ]
  }

  /// Who was asked in it, and what.
  private var asked: (OfficeSequence.Step.Party, String)? {
    switch SpanName(rawValue: name) {
    case .merchantSession: return (.apple, "merchant session")
    case .ask:
      guard case .text(let operation)? = self[.operation] else { return nil }
      return (.provider, operation)
    case .request, .quote, .openToken, .claim, .record, .call, .handOver, .deliver, .recover, nil: return nil
    }
  }
}
