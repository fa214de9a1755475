import ApplePayToken
import TenderPayments
import Testing
import TokenIssuer

/// Every bit of a token, in every field, one at a time.
@Suite struct `A token with one bit changed` {
  /// Bits that no signature covers and that may therefore differ: none.
  private static let harmless: Set<String> = []

  @Test(arguments: [
    (TokenVariant.Format.ellipticCurve, false), (.ellipticCurve, true), (.rsa, false), (.rsa, true),
  ])
  func `is never opened, and is refused quickly`(format: TokenVariant.Format, hasApplicationData: Bool) throws {
    try attack(format, hasApplicationData, .memory, every: Effort.stride)
  }

  /// The signature is verified before an agent gets a request, so few of these reach the agent.
  @Test(arguments: [TokenVariant.Format.ellipticCurve, .rsa])
  func `is never opened with a key that an agent holds`(format: TokenVariant.Format) throws {
    try attack(format, true, .agent, every: 9 * Effort.stride)
  }

  private func attack(
    _ format: TokenVariant.Format, _ hasApplicationData: Bool, _ location: KeyLocation, every stride: Int
  ) throws {
    let setup = try AttackSetup(format)
    let opener = try setup.opener(location)
    let issued = try setup.issuer().issue(setup.order(applicationData: hasApplicationData ? [1, 2, 3] : nil))
    let good = try EncryptedPaymentToken(bytes: Array(issued.text.utf8))
    #expect(opener.refusal(of: good) == nil)

    var watch = Stopwatch()
    var opened: Set<String> = []
    var count = 0
    for field in TokenField.allCases where field.bytes(of: good) != nil {
      for bit in Swift.stride(from: 0, to: (field.bytes(of: good) ?? []).count * 8, by: stride) {
        let changed = field.flipping(bit, in: good)
        if watch.time({ opener.refusal(of: changed) }) == nil { opened.insert("\(field) bit \(bit)") }
        count += 1
      }
    }
    #expect(opened == Self.harmless)
    #expect(count * stride > 18_000, "all of it was tried")
    let slow = watch.percentile(99)
    #if !DEBUG
      #expect(slow <= .milliseconds(5), "p99 \(slow)")
    #endif
  }
}

/// The binary members of a token.
enum TokenField: String, CaseIterable {
  case data, signature, keyMaterial, publicKeyHash, transactionID, applicationData

  func bytes(of token: EncryptedPaymentToken) -> [UInt8]? {
    switch self {
    case .data: token.data
    case .signature: token.signature
    case .keyMaterial: token.keyMaterial.bytes
    case .publicKeyHash: token.publicKeyHash
    case .transactionID: token.transactionID
    case .applicationData: token.applicationDataHash
    }
  }

  func flipping(_ bit: Int, in token: EncryptedPaymentToken) -> EncryptedPaymentToken {
    replacing(in: token) { $0[bit / 8] ^= 1 << (bit % 8) }
  }

  func replacing(in token: EncryptedPaymentToken, _ edit: (inout [UInt8]) -> Void) -> EncryptedPaymentToken {
    func value(_ field: TokenField) -> [UInt8]? {
      guard var bytes = field.bytes(of: token) else { return nil }
      if field == self { edit(&bytes) }
      return bytes
    }
    let material = value(.keyMaterial) ?? []
    return EncryptedPaymentToken(
      version: token.version, data: value(.data) ?? [], signature: value(.signature) ?? [],
      keyMaterial: token.version == .ecV1 ? .ephemeralPublicKey(material) : .wrappedKey(material),
      publicKeyHash: value(.publicKeyHash) ?? [], transactionID: value(.transactionID) ?? [],
      applicationDataHash: value(.applicationData))
  }
}
