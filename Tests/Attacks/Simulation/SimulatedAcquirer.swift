import Acquiring
import Auditing
import TenderPayments

/// An acquirer that may be configured: its ledger, and the wire to it.
final class SimulatedAcquirer {
  let bank: SimulatedBank
  let wire: SimulatedWire
  let profile: BankProfile
  /// Events that wait to be sent in one call.
  var batch: [ProviderMessage] = []

  /// - Parameter number: which of the two.
  init(_ number: Int, _ profile: BankProfile, _ thread: SimulatedThread) {
    self.profile = profile
    bank = SimulatedBank(
      repeatsAnswers: profile.repeatsAnswers, remembersReversals: profile.remembersReversals,
      refusesUsedTokens: !profile.isSealed, conduct: profile.conduct)
    wire = SimulatedWire(thread, bank, profile.capabilities(number))
    wire.hasFirstStep = profile.hasFirstStep
    wire.memory = profile.memory
  }

  /// Connector and account.
  var route: String { wire.capabilities.route }

  /// Under whose key payment tokens are encrypted, if the provider opens them.
  func configured(as acquirer: Acquirer, for tokens: EncryptedPaymentToken) -> ConfiguredRoute {
    ConfiguredRoute(acquirer, sealedKeys: profile.isSealed ? [tokens.publicKeyHash] : [])
  }
}

/// An event on its way to the gateway.
struct ProviderMessage {
  let event: AcquirerEvent
  /// Our name of the operation whose final answer it brings; nil for any other event.
  let answers: String?
  /// How often it is sent.
  let timeout: Int
}
