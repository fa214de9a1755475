import Crypto
import Synchronization
import TenderPayments

/// Reports payment tokens whose signer, intermediate or signature form has not been seen before. Such tokens pass every
/// check and are accepted; the operator should look at them before Apple's next change is one that does not pass.
///
/// It reports each novelty once. It knows what Apple is known to use; the caller passes what its store remembers.
public final class SignerMonitor: Sendable {
  /// A signer, an intermediate or a signature form that was not seen before.
  public struct Novelty: Sendable, Hashable {
    /// What is new.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      case wireForm = "wire_form"
      case signer
      case intermediate
    }

    public let kind: Kind
    /// The form in words, or a certificate's SHA-256 in hexadecimal: what to remember it by.
    public let name: String
    /// For the log: a certificate's common name and serial number.
    public let detail: String

    public init(kind: Kind, name: String, detail: String) {
      self.kind = kind
      self.name = name
      self.detail = detail
    }
  }

  /// The monitor reports at most this many signature forms, because the signer chooses the form freely.
  private static let formLimit = 64

  private let seen: Mutex<[Novelty.Kind: Set<String>]>
  private let report: @Sendable (Novelty) -> Void

  /// - Parameters:
  ///   - seen: names by kind that were reported before.
  ///   - report: called while a payment is processed, so it must not block.
  public init(
    seen: [Novelty.Kind: Set<String>] = [:], report: @escaping @Sendable (Novelty) -> Void
  ) {
    self.seen = Mutex(seen)
    self.report = report
  }

  /// - Parameter form: of a signature that is valid.
  func check(_ form: WireForm) {
    guard case .other(let text) = form else { return }
    note(Novelty(kind: .wireForm, name: text, detail: text))
  }

  /// - Parameter chain: that leads to a trusted root. Chains of a sandbox are ignored: it makes a new one at every
  ///   start.
  func check(_ chain: SignerChain) {
    guard chain.environment != .simulated else { return }
    if !AppleRoot.knownSigners.contains(Hex.encode(chain.signer.serialNumber)) { note(.signer, chain.signer) }
    let intermediate = Self.fingerprint(chain.intermediate)
    if intermediate != AppleRoot.knownIntermediate { note(.intermediate, chain.intermediate) }
  }

  private func note(_ kind: Novelty.Kind, _ certificate: Certificate) {
    let detail = "\(certificate.commonName ?? "without a name"), serial number \(Hex.encode(certificate.serialNumber))"
    note(Novelty(kind: kind, name: Self.fingerprint(certificate), detail: detail))
  }

  private func note(_ novelty: Novelty) {
    let isNew = seen.withLock { seen in
      guard novelty.kind != .wireForm || seen[.wireForm, default: []].count < Self.formLimit else { return false }
      return seen[novelty.kind, default: []].insert(novelty.name).inserted
    }
    if isNew { report(novelty) }
  }

  private static func fingerprint(_ certificate: Certificate) -> String {
    Hex.encode(SHA256.hash(data: certificate.encoding))
  }
}
