import BackOffice
import TenderPayments

extension TraceStore {
  /// As the office draws them.
  var sequences: [OfficeSequence] {
    newest.map { basket, trace in
      OfficeSequence(basket: basket, began: trace.startedAt, steps: trace.calls.flatMap(\.steps))
    }
  }
}

extension PaymentTrace.Call {
  /// The browser's call, what the server asked of others meanwhile, and its answer.
  fileprivate var steps: [OfficeSequence.Step] {
    let asked = OfficeSequence.Step(
      from: .browser, to: .server, name: [name, about].compactMap(\.self).joined(separator: ", "),
      details: spans.map {
        (name: $0.name, text: [$0.milliseconds, $0.outcome].compactMap(\.self).joined(separator: ", "))
      },
      at: .microseconds(at))
    let answered = OfficeSequence.Step(
      from: .server, to: .browser, name: "HTTP \(status)", details: [(name: "whole", text: "\(microseconds) µs")],
      at: .microseconds(at + microseconds))
    return [asked] + outside + [answered]
  }

  /// A span that another party's answer ended is a question and an answer.
  private var outside: [OfficeSequence.Step] {
    var (steps, begin) = ([OfficeSequence.Step](), at)
    for span in spans {
      if let (party, question) = span.party {
        let result = [(name: "after", text: span.milliseconds), (name: "outcome", text: span.outcome ?? "answered")]
        steps += [
          .init(from: .server, to: party, name: question, details: [], at: .microseconds(begin)),
          .init(
            from: party, to: .server, name: span.outcome ?? "answered", details: result,
            at: .microseconds(begin + span.microseconds)),
        ]
      }
      begin += span.microseconds
    }
    return steps
  }
}

extension PaymentTrace.Span {
  fileprivate var milliseconds: String { "\(Double(microseconds) / 1_000) ms" }

  /// Who was asked in it, and what.
  fileprivate var party: (OfficeSequence.Step.Party, String)? {
    switch name {
    case "appleAnswered": (.apple, "merchant session")
    case "authorized": (.provider, "authorize")
    case "captured": (.provider, "capture")
    default: nil
    }
  }
}
