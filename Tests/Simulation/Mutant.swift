import Acquiring
import TenderPayments

/// A defect that is planted in front of the engine's store or wire, to see that somebody notices. Mutants live in this
/// target alone, which no product contains: there is no switch in the engine that could be left on.
public struct Mutant: Sendable {
  public let name: String
  /// What the engine's SQL becomes.
  let dialect: @Sendable (String) -> String
  /// What the engine's acquirer becomes.
  private let wiring: @Sendable (Acquirer) -> Acquirer

  init(
    _ name: String, dialect: @escaping @Sendable (String) -> String = { $0 },
    wiring: @escaping @Sendable (Acquirer) -> Acquirer = { $0 }
  ) {
    self.name = name
    self.dialect = dialect
    self.wiring = wiring
  }

  func wire(_ acquirer: Acquirer, _ thread: SimulatedThread) -> Acquirer { wiring(acquirer) }
}
