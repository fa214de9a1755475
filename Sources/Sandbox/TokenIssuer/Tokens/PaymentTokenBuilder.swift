import Crypto
import StrictJSON
import TenderPayments

/// Builds a payment token of which a variant can change every part.
///
/// Without a change it builds the same token as ``PaymentTokenIssuer/issue(_:)``.
struct PaymentTokenBuilder {
  let authority: TokenAuthority
  let random: RandomBytes
  let request: PaymentTokenRequest
  var form: SignatureForm
  /// When the signature says it was made.
  var signingTime: Timestamp
  var applicationDataHash: [UInt8]?
  var recipient: TokenRecipient
  /// The payment data inside, before it is encrypted.
  var payload: JSONObject
  var encryption: PayloadEncryption

  private var plaintextEdit: ([UInt8]) -> [UInt8] = { $0 }
  private var signerEdit: ((inout CertificateBuilder) throws -> Void)?
  private var intermediateEdit: ((inout CertificateBuilder) throws -> Void)?
  private var contentEdit: (inout IssuedPaymentToken) -> Void = { _ in }
  private var signatureEdit: (inout SignatureBuilder) throws -> Void = { _ in }
  private var tokenEdit: (inout IssuedPaymentToken) throws -> Void = { _ in }
  private var documentEdit: (inout JSONObject) -> Void = { _ in }
  private var textEdit: ([UInt8]) -> [UInt8] = { $0 }

  init(_ request: PaymentTokenRequest, by authority: TokenAuthority, at moment: Timestamp, random: RandomBytes) {
    (self.authority, self.random, self.request) = (authority, random, request)
    (form, recipient) = (request.form, request.recipient)
    signingTime = request.signingTime ?? moment
    applicationDataHash = request.applicationData.map { Array(SHA256.hash(data: $0)) }
    payload = PaymentDataText(request, random: random).members
    encryption = PayloadEncryption(random: random)
  }

  var isRSA: Bool { recipient.isRSA }

  /// Over the text inside, before it is encrypted.
  mutating func plaintext(_ edit: @escaping ([UInt8]) -> [UInt8]) { plaintextEdit = edit }
  /// Issues the signer's certificate anew, with a change.
  mutating func signer(_ edit: @escaping (inout CertificateBuilder) throws -> Void) { signerEdit = edit }
  /// Issues the intermediate's certificate anew, with a change.
  mutating func intermediate(_ edit: @escaping (inout CertificateBuilder) throws -> Void) { intermediateEdit = edit }
  /// Over the encrypted token, before it is signed.
  mutating func content(_ edit: @escaping (inout IssuedPaymentToken) -> Void) { contentEdit = edit }
  mutating func signature(_ edit: @escaping (inout SignatureBuilder) throws -> Void) { signatureEdit = edit }
  /// Over the finished token.
  mutating func token(_ edit: @escaping (inout IssuedPaymentToken) throws -> Void) { tokenEdit = edit }
  /// Over `paymentData`.
  mutating func document(_ edit: @escaping (inout JSONObject) -> Void) { documentEdit = edit }
  /// Over the text that leaves the device.
  mutating func text(_ edit: @escaping ([UInt8]) -> [UInt8]) { textEdit = edit }

  /// The text that leaves the device.
  func issue() throws -> [UInt8] {
    let plaintext = plaintextEdit(JSONValue.object(payload).serialized())
    guard case .object(var document) = try token(around: plaintext).paymentData else { return [] }
    documentEdit(&document)
    return textEdit(JSONValue.object(document).serialized())
  }

  func token(around plaintext: [UInt8]) throws -> IssuedPaymentToken {
    var token = try encrypted(plaintext)
    contentEdit(&token)
    token.signature = try signature(over: token.signedContent)
    try tokenEdit(&token)
    return token
  }

  /// The Secure Element's part.
  private func encrypted(_ plaintext: [UInt8]) throws -> IssuedPaymentToken {
    let (material, data) = try encryption.encrypt(plaintext, to: recipient)
    return IssuedPaymentToken(
      card: request.card, version: isRSA ? "RSA_v1" : "EC_v1", data: data, signature: [], keyMaterial: material,
      publicKeyHash: recipient.publicKeyHash, transactionID: random.next(32), applicationDataHash: applicationDataHash)
  }

  /// The broker's part.
  private func signature(over content: [UInt8]) throws -> [UInt8] {
    let signer = try authority.signer(isRSA: isRSA, random)
    var names = SignerNames(
      certificates: [signer.certificate, try intermediateCertificate()], issuer: signer.issuer,
      serialNumber: signer.serialNumber)
    if let edit = signerEdit {
      var builder = try authority.signerBuilder(isRSA: isRSA, random)
      try edit(&builder)
      names.certificates[0] = try builder.encoded()
      (names.issuer, names.serialNumber) = (builder.issuer, builder.serialNumber)
    }
    var builder = SignatureBuilder(over: content, at: signingTime, by: signer.key, form: form, signer: names)
    try signatureEdit(&builder)
    return try builder.encoded()
  }

  private func intermediateCertificate() throws -> [UInt8] {
    guard let edit = intermediateEdit else { return authority.intermediate }
    var builder = try authority.intermediateBuilder(random)
    try edit(&builder)
    return try builder.encoded()
  }
}
