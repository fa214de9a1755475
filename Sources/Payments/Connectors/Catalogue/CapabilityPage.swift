package import Acquiring
import TenderPayments

/// What a connector states, as a list in Markdown. The pages in `docs/providers` have it between two comments.
package struct CapabilityPage: Sendable {
  private let capabilities: AcquirerCapabilities
  private let sendsEvents: Bool
  private let hasReport: Bool

  package init(_ acquirer: Acquirer) {
    capabilities = acquirer.capabilities
    hasReport = acquirer.report != nil
    sendsEvents = acquirer.readsEvents
  }

  /// Begins the list in a page.
  package static func opening(_ connector: String) -> String {
    "<!-- made by: tender connector describe \(connector) -->"
  }
  /// Ends it.
  package static let closing = "<!-- end -->"

  package var text: String {
    rows.map { "- \($0.name): \($0.value)\n" }.joined()
  }

  private var rows: [(name: String, value: String)] {
    [
      ("payment tokens", instruments),
      ("final or pre-authorization", capabilities.namesAuthorizationType ? "as the payment asks" : "not told apart"),
      ("capture", captures),
      ("void", has(.void) ? "all, or a part" : "all that is held"),
      ("refund", refunds), ("agreements", agreements),
      ("a card is verified", capabilities.verifiesCards ? "by an authorization of zero" : "no"),
      ("an authorization is repeated", Self.text(capabilities.authorizationIdempotency)),
      ("what follows is repeated", Self.text(capabilities.idempotency)), ("found", inquiry),
      ("undone", undoing), ("*not found* counts after", Self.text(capabilities.settleHorizon)),
      ("money is held for", capabilities.holdLifetime.map(Self.text) ?? "not stated"),
      ("decimals unlike ISO 4217", decimals), ("events", sendsEvents ? "yes" : "none"),
      ("listing to reconcile", hasReport ? "yes" : "none"),
    ]
  }

  private func has(_ part: AcquirerCapabilities.Parts) -> Bool { capabilities.parts.contains(part) }

  private var instruments: String {
    let isSealed = capabilities.instruments.contains(.sealed)
    let sealed = capabilities.preparedInstruments.contains(.sealed) ? "sealed, in two steps" : "sealed, in one step"
    return "opened by Tender" + (isSealed ? "; \(sealed)" : "")
  }

  private var agreements: String {
    let begins = capabilities.storesCredentials
    guard !begins.isEmpty else { return "none" }
    let kinds = begins.count > 1 ? "opened or sealed" : begins.contains(.sealed) ? "sealed" : "opened by Tender"
    let only = capabilities.agreementKinds == [.recurring] ? "recurring ones, " : ""
    return "\(only)begun with a payment token \(kinds)"
      + (capabilities.instruments.contains(.stored) ? ", and charged" : "")
  }

  private var captures: String {
    (["all"] + (has(.capture) ? ["less than is held"] : []) + (has(.furtherCaptures) ? ["several"] : []))
      .joined(separator: ", ")
  }

  private var refunds: String {
    (has(.refund) ? "all, or a part" : "all") + (capabilities.refundsOneCapture ? "; of one capture each" : "")
  }

  private var inquiry: String {
    if capabilities.inquiry { return "by our reference" }
    return capabilities.inquiryByName ? "by the provider's name of what is pending" : "not at all"
  }

  private var undoing: String {
    if capabilities.reversal { return "by our reference" }
    return capabilities.inquiry ? "found, and voided" : "not at all: its event, or a person"
  }

  private var decimals: String {
    let others = Currency.all.filter(\.isMoney).compactMap { currency -> String? in
      guard let exponent = capabilities.exponent(currency), exponent != currency.exponent else { return nil }
      return "\(currency.code) \(exponent)"
    }
    return others.isEmpty ? "none" : others.sorted().joined(separator: ", ")
  }

  private static func text(_ idempotency: AcquirerCapabilities.Idempotency) -> String {
    switch idempotency {
    case .none: "never"
    case .reference(let window): "under the same key for \(text(window))"
    }
  }

  /// In days, hours and minutes.
  private static func text(_ duration: Duration) -> String {
    let minutes = duration.components.seconds / 60
    let parts = [("day", minutes / 1_440), ("hour", minutes / 60 % 24), ("minute", minutes % 60)]
    return parts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)\($0.1 == 1 ? "" : "s")" }.joined(separator: " ")
  }
}

extension Acquirer {
  /// Whether the provider sends events: one that sends none expects none.
  fileprivate var readsEvents: Bool {
    do {
      _ = try readEvents(InboundEvent(headers: [], body: [], arrivedAt: Timestamp(seconds: 0)))
      return true
    } catch {
      return error != .notExpected
    }
  }
}
