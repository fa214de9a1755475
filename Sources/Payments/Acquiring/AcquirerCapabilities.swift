package import TenderPayments

/// What a connector states about its acquirer. The gateway chooses its recovery by it; what it does not act upon is not
/// stated. Any answer may be *pending*, so whether an acquirer answers later is not among it.
package struct AcquirerCapabilities: Sendable {
  /// The kinds of credential that the acquirer accepts.
  package enum Instrument: Sendable, Hashable, CaseIterable {
    /// Decrypted by the merchant.
    case network
    /// The verified payment token, which the provider decrypts.
    case sealed
    /// What the provider keeps of an agreement's first payment.
    case stored
  }

  /// Parts of a payment that the acquirer can move, and whether it can raise a hold. What it cannot is refused before anything is written.
  package struct Parts: OptionSet, Sendable, Hashable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A capture of less than what is held.
    package static let capture = Parts(rawValue: 1)
    /// A second capture of the same authorization.
    package static let furtherCaptures = Parts(rawValue: 2)
    /// A void of less than what is held.
    package static let void = Parts(rawValue: 4)
    /// A refund of less than what was captured.
    package static let refund = Parts(rawValue: 8)

    /// More than what is held, before a capture.
    package static let increment = Parts(rawValue: 16)

    package static let all: Parts = [.capture, .furtherCaptures, .void, .refund]
  }

  /// What the acquirer does with the money of an authorization that is final or preliminary.
  package struct Hold: Sendable, Hashable {
    package let parts: Parts
    package let lifetime: Duration

    package init(_ parts: Parts, lifetime: Duration) { (self.parts, self.lifetime) = (parts, lifetime) }
  }

  /// A merchant's account at the acquirer.
  package struct MerchantAccount: Sendable, Hashable {
    package let name: String
    /// The only currency that it takes; nil for every one.
    package let currency: Currency?

    package init(_ name: String, currency: Currency? = nil) {
      (self.name, self.currency) = (name, currency)
    }
  }

  /// How the acquirer treats an operation that is sent twice under one reference.
  package enum Idempotency: Sendable, Hashable {
    /// It would be done twice.
    case none
    /// The first answer again, for so long. What it makes of other contents does not matter: the gateway repeats an
    /// operation with the contents that it had.
    case reference(window: Duration)
  }

  /// The connector's name: in metrics, in the address of its inbox.
  package var name: String
  /// The operator's name of the account at the acquirer; nil where there is only one.
  package var account: String?
  package let instruments: Set<Instrument>
  /// Those that the provider authorizes in two steps. Without a stored result of the first, nothing was authorized.
  package var preparedInstruments: Set<Instrument>
  package var parts: Parts
  /// How safely captures, voids and refunds can be repeated.
  package var idempotency: Idempotency
  /// How safely authorizations can be repeated. They are only while the payment token is in memory.
  package var authorizationIdempotency: Idempotency
  /// Whether a refund names one capture and cannot give back more than it took.
  package let refundsOneCapture: Bool
  package let inquiry: Bool
  /// Whether an operation can be inquired about once a pending answer has named it, where ``inquiry`` is not offered.
  package var inquiryByName = false
  /// Whether an authorization can be undone by our reference alone. Where it cannot, it is inquired about and voided.
  package let reversal: Bool
  /// Whether an authorization of zero asks the issuer if the card is good. It holds nothing.
  package var verifiesCards = false
  /// The credentials with which an agreement may begin: the provider then keeps what later payments need.
  package var storesCredentials: Set<Instrument> = []
  /// The kinds of agreement that the provider is told of, where it keeps credentials.
  package var agreementKinds = Set(AgreementKind.allCases)
  /// Whether the provider is told the network of a sealed payment token, so that it takes none of a network that this
  /// release does not know.
  package var namesNetworks = false
  /// The networks whose cards the acquirer takes; nil where the connector does not have to know the network.
  package var networks: Set<CardNetwork>?
  /// Whether the last of the acquirer's decimals must be zero, as of a dinar's thousandths.
  package var lastDigitIsZero: @Sendable (Currency) -> Bool = { _ in false }
  /// Whether the provider is told if an authorization is final or preliminary. For any other they are one.
  package var namesAuthorizationType = false
  /// The type of an authorization that names none; nil where the provider tells none apart.
  package var usualAuthorizationType: AuthorizationType?
  /// Where the type decides: parts and lifetime in the place of ``parts`` and ``holdLifetime``.
  package var hold: (@Sendable (AuthorizationType) -> Hold)?
  /// How long after an operation was sent the acquirer may still not know it. Only afterwards does "not found" mean
  /// that it never arrived.
  package let settleHorizon: Duration
  /// How long the acquirer holds the money; nil when it does not say.
  package let holdLifetime: Duration?
  /// The acquirer's idea of a currency's decimals, by which amounts are converted on their way to it and back: nil for
  /// a currency it does not take.
  package let exponent: @Sendable (Currency) -> Int?
  /// The merchant's account that takes payments in a currency unless another is named; nil where the credentials have
  /// only one.
  package let merchantAccount: @Sendable (Currency) -> String?
  /// The merchant accounts that the credentials open; nil where the connector does not know them.
  package var merchantAccounts: [MerchantAccount]?
  /// The provider's names of the accounts whose events are the route's, where events name one. An event without a name
  /// is of the account `""`.
  package var eventAccounts: Set<String> = []

  package init(
    name: String = "sandbox", account: String? = nil, instruments: Set<Instrument>,
    preparedInstruments: Set<Instrument> = [], parts: Parts = .all,
    idempotency: Idempotency, authorizationIdempotency: Idempotency = .none, refundsOneCapture: Bool = false,
    inquiry: Bool, reversal: Bool, settleHorizon: Duration, holdLifetime: Duration? = nil,
    exponent: @escaping @Sendable (Currency) -> Int? = { $0.isMoney ? $0.exponent : nil },
    merchantAccount: @escaping @Sendable (Currency) -> String? = { _ in nil }
  ) {
    self.name = name
    self.account = account
    self.instruments = instruments
    self.preparedInstruments = preparedInstruments
    self.parts = parts
    self.idempotency = idempotency
    self.authorizationIdempotency = authorizationIdempotency
    self.refundsOneCapture = refundsOneCapture
    self.inquiry = inquiry
    self.reversal = reversal
    self.settleHorizon = settleHorizon
    self.holdLifetime = holdLifetime
    self.exponent = exponent
    self.merchantAccount = merchantAccount
  }

  /// Connector and account, as the journal keeps them with a payment: `sandbox`, or `sandbox/eu`. Whatever follows an
  /// authorization goes the same way.
  package var route: String { account.map { "\(name)/\($0)" } ?? name }

  /// Whether an agreement of this kind may begin here, with this kind of credential; nil for any.
  package func begins(_ agreement: AgreementKind, with instrument: Instrument? = nil) -> Bool {
    agreementKinds.contains(agreement)
      && (instrument.map { storesCredentials.contains($0) } ?? !storesCredentials.isEmpty)
  }

  package func parts(of type: AuthorizationType?) -> Parts { type.flatMap { hold?($0).parts } ?? parts }

  /// How long the money of an authorization is held; nil when the acquirer does not say. A final authorization is
  /// captured within about seven days, wherever it is made.
  package func holdLifetime(of type: AuthorizationType?) -> Duration? {
    if let type, let hold { return hold(type).lifetime }
    guard type == .final else { return holdLifetime }
    return [.seconds(7 * 86_400), holdLifetime].compactMap { $0 }.min()
  }

  /// Whether the text may be an account's name: 1 to 40 letters, digits and hyphens.
  package static func isAccountName(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }

  /// Whether an authorization may be sent twice under our reference while its payment token is in memory.
  package var repeatsAuthorizations: Bool { authorizationIdempotency != .none }

  /// Whether an operation that was sent so long ago may be sent again, under its reference and with its contents.
  package func mayRepeat(after age: Duration) -> Bool {
    if case .reference(let window) = idempotency { age < window } else { false }
  }
}
