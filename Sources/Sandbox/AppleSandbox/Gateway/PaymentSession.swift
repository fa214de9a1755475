import StrictJSON
import TenderPayments
import TokenIssuer

/// A merchant session: the right to show one payment sheet, on one domain, within five minutes.
struct PaymentSession: Sendable {
  /// The answer, member for member.
  let json: JSONValue
  let identifier: String
  let merchantIdentifier: String
  /// The page's host; nil for a session of an app or a message.
  let domain: String?
  let openedAt: Timestamp

  /// The documented life. The `expiresAt` inside says an hour, as Apple's does.
  static let life: Duration = .seconds(300)

  /// A new session of the form that Apple's gateway answers.
  ///
  /// What Apple signs is not known. The sandbox signs the values of `merchantSessionIdentifier`, `nonce`,
  /// `merchantIdentifier`, `domainName`, `displayName` and `epochTimestamp`, joined by line feeds.
  init(
    _ request: SessionRequest, for merchant: PortalMerchant, signer: BrokerSignature, at now: Timestamp,
    random: RandomBytes
  ) throws {
    let hash = merchant.hash.description
    let identifier = "SSH\(random.hex(16).uppercased())_\(random.hex(32).uppercased())"
    let nonce = random.hex(4)
    let signed = [identifier, nonce, hash, request.context, request.displayName, String(now.milliseconds)]
    let signature = try signer.sign(Array(signed.joined(separator: "\n").utf8), at: now)
    json = [
      "epochTimestamp": .integer(now.milliseconds), "expiresAt": .integer(now.milliseconds + 3_600_000),
      "merchantSessionIdentifier": .string(identifier), "nonce": .string(nonce), "merchantIdentifier": .string(hash),
      "domainName": .string(request.context), "displayName": .string(request.displayName),
      "signature": .string(Hex.encode(signature)),
      "operationalAnalyticsIdentifier": .string("\(request.displayName):\(hash)"), "retries": 0, "pspId": .string(hash),
    ]
    self.identifier = identifier
    merchantIdentifier = merchant.merchantIdentifier
    domain = request.initiative == .web ? request.context.lowercased() : nil
    openedAt = now
  }
}
