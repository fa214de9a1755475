import Acquiring
import Auditing
import TenderPayments

/// An acquirer that may be configured: its ledger, and the wire to it.
final class SimulatedAcquirer {
  let bank: SimulatedBank
  let wire: SimulatedWire

  init(_ name: String, _ profile: BankProfile, _ thread: SimulatedThread) {
    let capabilities = profile.capabilities(named: name)
    bank = SimulatedBank(
      repeatsAnswers: profile.repeatsAnswers, remembersReversals: profile.remembersReversals,
      refusesUsedTokens: !capabilities.instruments.contains(.sealed))
    wire = SimulatedWire(thread, bank, capabilities)
    // What leaves at the end of the window is on its way for a while, longer than the settle horizon at worst.
    wire.memory = profile.memory.map { $0 + .seconds(400) }
  }

  var name: String { wire.capabilities.name }
}
