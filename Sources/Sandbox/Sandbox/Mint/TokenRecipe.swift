import Crypto
import StrictJSON
import TenderPayments

/// A payment token before it is made, with every part within reach: what a variant changes, so that a reader of
/// payment tokens can be shown each thing it must accept or refuse.
///
/// Left alone it makes the same token as ``TokenMint/mint(_:)``.
struct TokenRecipe {
  let authority: MintAuthority
  let random: RandomBytes
  let order: TokenOrder
  var form: SignatureForm
  /// When the signature says it was made.
  var signingTime: Timestamp
  var applicationDataHash: [UInt8]?
  var recipient: TokenRecipient
  /// What stands inside.
  var payload: JSONObject
  var sealing: SealingRecipe

  private var plaintextEdit: ([UInt8]) -> [UInt8] = { $0 }
  private var signerEdit: ((inout CertificateRecipe) throws -> Void)?
  private var intermediateEdit: ((inout CertificateRecipe) throws -> Void)?
  private var contentEdit: (inout MintedPaymentToken) -> Void = { _ in }
  private var signatureEdit: (inout SignatureRecipe) throws -> Void = { _ in }
  private var tokenEdit: (inout MintedPaymentToken) throws -> Void = { _ in }
  private var documentEdit: (inout JSONObject) -> Void = { _ in }
  private var textEdit: ([UInt8]) -> [UInt8] = { $0 }

  init(_ order: TokenOrder, by authority: MintAuthority, at moment: Timestamp, random: RandomBytes) throws {
    (self.authority, self.random, self.order) = (authority, random, order)
    (form, recipient) = (order.form, order.recipient)
    signingTime = order.signingTime ?? moment
    applicationDataHash = order.applicationData.map { Array(SHA256.hash(data: $0)) }
    payload = PaymentDataText(card: order.card, amount: order.amount, random: random).members
    sealing = try SealingRecipe(random: random)
  }

  var isRSA: Bool { recipient.isRSA }

  /// Over the text inside, before it is encrypted.
  mutating func plaintext(_ edit: @escaping ([UInt8]) -> [UInt8]) { plaintextEdit = edit }
  /// Issues the signer's certificate anew, with a change.
  mutating func signer(_ edit: @escaping (inout CertificateRecipe) throws -> Void) { signerEdit = edit }
  /// Issues the intermediate's certificate anew, with a change.
  mutating func intermediate(_ edit: @escaping (inout CertificateRecipe) throws -> Void) { intermediateEdit = edit }
  /// Over the sealed token, before it is signed.
  mutating func content(_ edit: @escaping (inout MintedPaymentToken) -> Void) { contentEdit = edit }
  mutating func signature(_ edit: @escaping (inout SignatureRecipe) throws -> Void) { signatureEdit = edit }
  /// Over the finished token.
  mutating func token(_ edit: @escaping (inout MintedPaymentToken) throws -> Void) { tokenEdit = edit }
  /// Over `paymentData`.
  mutating func document(_ edit: @escaping (inout JSONObject) -> Void) { documentEdit = edit }
  /// Over the text that leaves the device.
  mutating func text(_ edit: @escaping ([UInt8]) -> [UInt8]) { textEdit = edit }

  /// The text that leaves the device.
  func mint() throws -> [UInt8] {
    let plaintext = plaintextEdit(JSONValue.object(payload).serialized())
    guard case .object(var document) = try token(around: plaintext).paymentData else { return [] }
    documentEdit(&document)
    return textEdit(JSONValue.object(document).serialized())
  }

  func token(around plaintext: [UInt8]) throws -> MintedPaymentToken {
    var token = try seal(plaintext)
    contentEdit(&token)
    token.signature = try signature(over: token.signedContent)
    try tokenEdit(&token)
    return token
  }

  /// The Secure Element's part.
  private func seal(_ plaintext: [UInt8]) throws -> MintedPaymentToken {
    let (material, data) = try sealing.seal(plaintext, to: recipient)
    return MintedPaymentToken(
      card: order.card, version: isRSA ? "RSA_v1" : "EC_v1", data: data, signature: [], keyMaterial: material,
      publicKeyHash: recipient.publicKeyHash, transactionID: random.next(32), applicationDataHash: applicationDataHash)
  }

  /// The broker's part.
  private func signature(over content: [UInt8]) throws -> [UInt8] {
    let intermediate = try intermediateEdit.map { edit in
      var recipe = try authority.intermediateRecipe(random)
      try edit(&recipe)
      return try recipe.encoded()
    }
    let signer = try authority.signer(isRSA: isRSA, random)
    var certificate = signer.certificate
    var names = signer
    if let edit = signerEdit {
      var recipe = try authority.signerRecipe(isRSA: isRSA, random)
      try edit(&recipe)
      certificate = try recipe.encoded()
      (names.issuer, names.serialNumber) = (recipe.issuer, recipe.serialNumber)
    }
    var recipe = SignatureRecipe(
      over: content, at: signingTime, by: names.key, form: form,
      signer: SignerNames(
        certificates: [certificate, intermediate ?? authority.intermediate], issuer: names.issuer,
        serialNumber: names.serialNumber))
    try signatureEdit(&recipe)
    return try recipe.encoded()
  }
}
