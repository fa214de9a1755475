import TenderPayments

extension Acquirer {
  /// The acquirer with new credentials at every call: asks the one that is current then. Capabilities stay, so the other
  /// must be able to do as much.
  package func asking(_ current: @escaping @Sendable () -> Acquirer) -> Acquirer {
    var copy = self
    if let prepare { copy.prepare = { await (current().prepare ?? prepare)($0, $1) } }
    copy.authorize = { await current().authorize($0, $1) }
    copy.capture = { await current().capture($0, $1) }
    copy.void = { await current().void($0, $1) }
    copy.refund = { await current().refund($0, $1) }
    if let increment { copy.increment = { await (current().increment ?? increment)($0, $1) } }
    copy.inquire = { await current().inquire($0, $1) }
    copy.reverse = { await current().reverse($0, $1) }
    copy.readEvents = { event throws(EventRefusal) in try current().readEvents(event) }
    copy.answerChallenge = { current().answerChallenge($0) }
    copy.checkCredentials = { await current().checkCredentials($0) }
    if let report {
      copy.report = { period, lookup, deadline throws(AcquirerReport.Unavailable) in
        try await (current().report ?? report)(period, lookup, deadline)
      }
    }
    return copy
  }
}
