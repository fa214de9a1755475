package import HTTPTransport
package import TenderPayments

/// Something that is known of an activity or a span, by a closed list of names.
///
/// Its value is a number, an identifier of ours, or a word of a closed list: there is no way to make one of a text that
/// came from outside. So no card data can be one.
package struct Fact: Sendable, Hashable {
  /// As in a line of the log.
  package enum Name: String, Sendable, Hashable, CaseIterable {
    case method, route, status, code, merchant, payment, acquirer, network, operation, answer, outcome, to, tries
    case events, moment

    /// As an attribute of a span: OpenTelemetry's own name where it has one.
    package var attribute: String {
      switch self {
      case .method: "http.request.method"
      case .route: "http.route"
      case .status: "http.response.status_code"
      case .code: "error.type"
      case .merchant, .payment, .acquirer, .network, .operation, .answer, .outcome, .to, .tries, .events, .moment:
        "tender.\(rawValue)"
      }
    }
  }

  package enum Value: Sendable, Hashable {
    case text(String)
    case number(Int64)
  }

  package let name: Name
  package let value: Value

  private init(_ name: Name, _ value: Value) { (self.name, self.value) = (name, value) }
}

extension Fact {
  package static func merchant(_ id: MerchantID) -> Fact { Fact(.merchant, .text(bounded(id.rawValue))) }
  /// Only of a payment that the store has.
  package static func payment(_ id: PaymentID) -> Fact { Fact(.payment, .text(bounded(id.rawValue, digits: 64))) }
  package static func network(_ network: CardNetwork) -> Fact {
    Fact(.network, .text(network.facts == nil ? "other" : network.rawValue))
  }
  package static func outcome(_ status: PaymentStatus) -> Fact { Fact(.outcome, .text(status.rawValue)) }
  package static func to(_ destination: Egress.Destination) -> Fact { Fact(.to, .text(destination.rawValue)) }
  package static func status(_ code: Int) -> Fact { Fact(.status, .number(Int64(code))) }
  package static func tries(_ count: some BinaryInteger) -> Fact { Fact(.tries, .number(Int64(clamping: count))) }
  package static func events(_ count: Int) -> Fact { Fact(.events, .number(Int64(count))) }
  /// The name of a route to a provider, which the operator has chosen.
  package static func acquirer(_ route: String) -> Fact { Fact(.acquirer, .text(bounded(route))) }
  /// What a provider is asked for.
  package static func operation<Verb: RawRepresentable<String> & CaseIterable>(_ verb: Verb) -> Fact {
    Fact(.operation, .text(bounded(verb.rawValue)))
  }
  /// The class of an answer: `approved`.
  package static func answer(_ word: String) -> Fact { Fact(.answer, .text(bounded(word, digits: 0))) }
  /// The stable code of a refusal.
  package static func code(_ code: String) -> Fact { Fact(.code, .text(bounded(code, digits: 4))) }
  /// What the shopper changed in the sheet.
  package static func moment(_ word: String) -> Fact { Fact(.moment, .text(bounded(word, digits: 0))) }
  package static func method(_ method: String) -> Fact { Fact(.method, .text(bounded(method, digits: 0))) }
  /// The path with the names of its parameters, never their values.
  package static func route(_ template: String) -> Fact { Fact(.route, .text(bounded(template, digits: 4))) }

  /// A text that is no word of ours after all is cut and masked: 96 characters of a name's alphabet, and no number long
  /// enough to be that of a card.
  ///
  /// - Parameter digits: how many may follow one another.
  private static func bounded(_ text: String, digits: Int = 11) -> String {
    var (run, length) = (0, 0)
    let isFit = text.utf8.allSatisfy { byte in
      run = (0x30...0x39).contains(byte) ? run + 1 : 0
      length += 1
      return run <= digits && length <= 96 && isOfNames(byte)
    }
    return isFit ? text : "other"
  }

  private static func isOfNames(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"),
      UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "*"):
      true
    default: false
    }
  }
}
