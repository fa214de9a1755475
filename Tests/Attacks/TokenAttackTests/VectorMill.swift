import ApplePayToken
import Crypto
import Foundation
import Sandbox
import SwiftASN1
import TenderPayments
import TenderTesting
import TokenVectors
import X509

/// Mints the conformance vectors from a seed: the same bytes every time.
///
/// RSA keys are the exception, because BoringSSL makes them by chance alone: they are kept beside the vectors.
struct VectorMill {
  static let directory = Repository.url("Tests/Support/Vectors/apple-pay-token").path
  static let merchant = "merchant.test.tender"
  static let signingTime = Timestamp(seconds: 1_750_000_000)
  private static let seed: UInt64 = 20_250_615

  let pki: SandboxPKI
  let ellipticKey: P256.KeyAgreement.PrivateKey
  let rsaKeyPEM: String

  init() throws {
    let random = RandomBytes.seeded(Self.seed)
    pki = try SandboxPKI(
      repeatable: random, from: Timestamp(seconds: 1_735_689_600), rsaSignerPEM: Self.kept("rsa-signer.key.pem"))
    ellipticKey = try P256.KeyAgreement.PrivateKey(rawRepresentation: [0x42] + random.next(31))
    rsaKeyPEM = try Self.kept("rsa-merchant.key.pem")
  }

  /// Everything that the seed makes, by file.
  func files() throws -> [String: String] {
    var files = ["root.pem": try pki.rootPEM + "\n", "ec-merchant.key.pem": ellipticKey.pemRepresentation + "\n"]
    for variant in TokenVariant.all { files["\(variant.name).txt"] = try vector(variant).text }
    return files
  }

  func vector(_ variant: TokenVariant) throws -> TokenVector {
    let (text, plaintext) = try mint(named: variant.spelling ?? variant.name)
      .mintWithPlaintext(order(variant.format), variant, isRepeatable: true)
    let opens = variant.expectation == .opens
    return TokenVector(
      name: variant.name, comment: variant.summary, expectation: expectation(variant),
      arrival: Self.signingTime.adding(variant.delay),
      key: variant.format == .rsa ? "rsa-merchant.key.pem" : "ec-merchant.key.pem", merchant: Self.merchant,
      paymentData: opens ? String(decoding: plaintext, as: UTF8.self) : nil, spelling: variant.spelling, token: text)
  }

  /// Each variant has its own random bytes, so that a new one changes no other.
  func mint(named name: String) -> TokenMint {
    let digest = SHA256.hash(data: Array("\(Self.seed) \(name)".utf8))
    let seed = digest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return TokenMint(pki: pki, clock: WallClock { Self.signingTime }, random: .seeded(seed))
  }

  func order(_ format: TokenVariant.Format) throws -> TokenOrder {
    let publicKey = format == .rsa ? try rsaPublicKeyPEM() : ellipticKey.publicKey.pemRepresentation
    guard let card = SandboxCards.card(id: "visa-debit") else { throw CocoaError(.coderValueNotFound) }
    return TokenOrder(
      card: card, amount: .eur(1250),
      recipient: try TokenRecipient(publicKeyPEM: publicKey, merchantIdentifier: Self.merchant))
  }

  private func rsaPublicKeyPEM() throws -> String {
    try Certificate.PrivateKey(pemEncoded: rsaKeyPEM).publicKey.serializeAsPEM().pemString
  }

  private func expectation(_ variant: TokenVariant) -> TokenVector.Expectation {
    switch variant.expectation {
    case .opens: .opens
    case .refused(let code): .refused(stage: code.stage.rawValue, code: code.rawValue)
    }
  }

  private static func kept(_ file: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
  }
}
