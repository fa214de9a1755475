import Crypto
import Synchronization
import TenderPayments

/// Sings when Apple begins to sign in a way that nobody has seen before: another form of the signature, another signer,
/// another intermediate. Such tokens pass, because they pass every check; somebody should look before the next change is
/// one that does not pass.
///
/// It sings once for each novelty. What Apple is known to use is known to it; what a store remembers is given to it.
public final class TokenCanary: Sendable {
  /// Something that was never seen before.
  public struct Novelty: Sendable, Hashable {
    /// In what way it is new.
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

  /// A signature's form is for its maker to choose; this many are told, and then no more.
  private static let formLimit = 64

  private let seen: Mutex<[Novelty.Kind: Set<String>]>
  private let sing: @Sendable (Novelty) -> Void

  /// - Parameters:
  ///   - seen: names by kind that need no song, as a store remembers them.
  ///   - sing: called on the path of a payment, so it must not wait.
  public init(
    seen: [Novelty.Kind: Set<String>] = [:], sing: @escaping @Sendable (Novelty) -> Void
  ) {
    self.seen = Mutex(seen)
    self.sing = sing
  }

  /// - Parameter form: of a signature that was found right.
  func sees(_ form: WireForm) {
    guard case .other(let text) = form else { return }
    tell(Novelty(kind: .wireForm, name: text, detail: text))
  }

  /// - Parameter chain: that leads to a trusted root. A sandbox makes its own with every start, so its are no news.
  func sees(_ chain: SignerChain) {
    guard chain.environment != .simulated else { return }
    if !AppleRoot.knownSigners.contains(Hex.encode(chain.signer.serialNumber)) { tell(.signer, chain.signer) }
    let intermediate = Self.fingerprint(chain.intermediate)
    if intermediate != AppleRoot.knownIntermediate { tell(.intermediate, chain.intermediate) }
  }

  private func tell(_ kind: Novelty.Kind, _ certificate: Certificate) {
    let detail = "\(certificate.commonName ?? "without a name"), serial number \(Hex.encode(certificate.serialNumber))"
    tell(Novelty(kind: kind, name: Self.fingerprint(certificate), detail: detail))
  }

  private func tell(_ novelty: Novelty) {
    let isNew = seen.withLock { seen in
      guard novelty.kind != .wireForm || seen[.wireForm, default: []].count < Self.formLimit else { return false }
      return seen[novelty.kind, default: []].insert(novelty.name).inserted
    }
    if isNew { sing(novelty) }
  }

  private static func fingerprint(_ certificate: Certificate) -> String {
    Hex.encode(SHA256.hash(data: certificate.encoding))
  }
}
