import ApplePayToken
import ArgumentParser
import CommandSupport
import StrictJSON
import TenderPayments
import TokenIssuer

struct TokenCreate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create", abstract: "Make a payment token, signed by a sandbox. NOT by Apple.",
    discussion: """
      The recipient's key decides between EC_v1 and RSA_v1. A variant is one way in which a token can be, good or \
      broken; the conformance vectors have each of them. --variants lists them with what a reader has to say. A variant \
      whose result depends on when the token arrives is signed so that it arrives now, unless --at is given; the command \
      says at which time to verify it.
      """)

  @Option(
    help: ArgumentHelp("The payment processing certificate, or a public key with --merchant-id.", valueName: "pem"))
  var to: String?

  @Option(help: ArgumentHelp("Apple's merchant identifier, for a key without a certificate.", valueName: "id"))
  var merchantId: String?

  @Option(parsing: .unconditional, help: "What the shopper agrees to, for example 12.50.")
  var amount: String?

  @Option(help: "The amount's currency, for example EUR.")
  var currency: String?

  @Option(
    help: ArgumentHelp(
      "A card of the sandbox's wallet, or a card of a test range: the device account number, its last month and its "
        + "network, for example 4111111111111111:2031-12:visa.", valueName: "card"))
  var card = "visa-debit"

  @Option(help: "How the token is made, good or broken.")
  var variant: String?

  @Option(
    help: ArgumentHelp("The request's application data, in base64; the token carries its hash.", valueName: "base64"))
  var applicationData: String?

  @Option(help: ArgumentHelp("The signing time, for example 2026-11-21T10:00:00Z; now by default.", valueName: "time"))
  var at: String?

  @Option(help: ArgumentHelp("The sandbox that signs; made when it is missing.", valueName: "directory"))
  var sandbox = ".tender/sandbox"

  @Flag(help: "Print JSON: the token with its variant, what is expected of it, its signing time and its root.")
  var json = false

  @Flag(help: "List the variants.")
  var variants = false

  func validate() throws {
    guard !variants else { return }
    guard to != nil, amount != nil, currency != nil else {
      throw ValidationError("--to, --amount and --currency are needed.")
    }
    if let at, Timestamp(rfc3339: at) == nil {
      throw ValidationError("--at is a time in UTC, for example 2026-11-21T10:00:00Z.")
    }
    if let variant, TokenVariant.named(variant) == nil {
      throw ValidationError("There is no variant \(variant); --variants lists them.")
    }
    if let applicationData, Base64.decode(applicationData) == nil {
      throw ValidationError("--application-data is base64.")
    }
    _ = try money()
    _ = try chosenCard()
  }

  func run() throws {
    guard !variants else { return TokenVariantList(json: json).show() }
    let signingTime = at.flatMap(Timestamp.init(rfc3339:)) ?? defaultSigningTime
    // Authorities that are made now must have been there at the signing time.
    let pki = try SandboxPKI(directory: "\(sandbox)/pki", clock: WallClock { min(signingTime, WallClock.system.now()) })
    let order = try order()
    let variant = try chosen(for: order)
    let token = try issue(order, variant, PaymentTokenIssuer(pki: pki, clock: WallClock { signingTime }))
    guard json else {
      Terminal.say(bytes: token)
      return Terminal.sayError("Verify it with --root \(sandbox)/pki/token-root.pem\(arrival(variant, signingTime))")
    }
    Terminal.say(String(decoding: try report(token, variant, signingTime, pki.rootPEM).serialized(), as: UTF8.self))
  }

  private func issue(
    _ order: PaymentTokenRequest, _ variant: TokenVariant, _ issuer: PaymentTokenIssuer
  ) throws -> [UInt8] {
    do { return try issuer.issue(order, variant) } catch let problem as TokenIssuerError {
      throw MistakenCall(problem.message)
    }
  }

  /// Now; for a variant whose result depends on its arrival, the time that makes it arrive now.
  private var defaultSigningTime: Timestamp {
    let now = Timestamp(seconds: WallClock.system.now().seconds)
    guard let variant = variant.flatMap(TokenVariant.named), variant.isTimed else { return now }
    return now.adding(.zero - variant.delay)
  }

  private func arrival(_ variant: TokenVariant, _ signingTime: Timestamp) -> String {
    variant.isTimed ? " --at \(signingTime.adding(variant.delay)), when it arrives" : ""
  }

  private func order() throws -> PaymentTokenRequest {
    PaymentTokenRequest(
      card: try chosenCard(), amount: try money(), recipient: try recipient(),
      applicationData: applicationData.flatMap { Base64.decode($0) })
  }

  /// The argument may hold an account number, so no error repeats it.
  private func chosenCard() throws -> SandboxCard {
    if card.contains(":") {
      guard let typed = SandboxCard(typed: card) else {
        throw ValidationError(
          "--card is number:YYYY-MM:network, the number with a valid check digit, the network one of "
            + "\(CardNetwork.known.map(\.rawValue).joined(separator: ", ")).")
      }
      return typed
    }
    guard let known = SandboxCards.card(id: card) else {
      throw ValidationError(
        "The wallet has no such card; it has \(SandboxCards.all.map(\.id).joined(separator: ", ")).")
    }
    return known
  }

  private func money() throws -> Amount {
    guard let currency = Currency(code: currency ?? ""), currency.isMoney else {
      throw ValidationError("--currency is an ISO 4217 code of money, for example EUR.")
    }
    do throws(MistypedAmount) { return try Amount(typed: amount ?? "", in: currency, least: 0) } catch {
      throw ValidationError("--amount \(error)")
    }
  }

  private func recipient() throws -> TokenRecipient {
    do {
      guard let merchantId else { return try TokenRecipient(certificatePEM: NamedFile.certificate(to ?? "")) }
      return try TokenRecipient(publicKeyPEM: NamedFile.text(to ?? ""), merchantIdentifier: merchantId)
    } catch let problem as TokenIssuerError {
      let isKey = merchantId == nil && (try? NamedFile.text(to ?? ""))?.contains("-----BEGIN PUBLIC KEY-----") == true
      throw MistakenCall(
        "--to \(to ?? ""): "
          + (isKey ? "this is a public key, which names no merchant: add --merchant-id" : problem.message))
    }
  }

  /// An ordinary token of the recipient's format, unless another is asked for.
  private func chosen(for order: PaymentTokenRequest) throws -> TokenVariant {
    let name = variant ?? (order.recipient.isRSA ? "rsa-v1" : "ec-v1")
    guard let variant = TokenVariant.named(name), variant.format == order.recipient.format else {
      throw MistakenCall("the variant \(name) is for a key of the other kind")
    }
    return variant
  }

  private func report(
    _ token: [UInt8], _ variant: TokenVariant, _ signingTime: Timestamp, _ root: String
  ) throws -> JSONValue {
    var members = TokenVariantList.members(variant)
    members["signingTime"] = .string(signingTime.description)
    members["arrival"] = .string(signingTime.adding(variant.delay).description)
    members["root"] = .string(root)
    Self.add(token, to: &members)
    return .object(members)
  }

  /// As JSON where that has the same bytes, otherwise as text, and in base64 where it is no text.
  private static func add(_ token: [UInt8], to members: inout JSONObject) {
    if let json = try? JSONReader.read(token), json.serialized() == token {
      members["token"] = json
    } else if let text = String(validating: token, as: UTF8.self) {
      members["token"] = .string(text)
    } else {
      members["tokenBase64"] = .string(Base64.encode(token))
    }
  }
}

/// What `tender-sandbox token create` can make.
struct TokenVariantList {
  let json: Bool

  func show() {
    for variant in TokenVariant.all {
      let members = Self.members(variant)
      Terminal.say(
        json
          ? String(decoding: JSONValue.object(members).serialized(), as: UTF8.self)
          : "\(variant.name): \(Self.expectation(variant)). \(variant.summary)")
    }
  }

  static func members(_ variant: TokenVariant) -> JSONObject {
    var members: JSONObject = [
      "variant": .string(variant.name), "version": .string(variant.format.rawValue),
      "summary": .string(variant.summary),
    ]
    switch variant.expectation {
    case .opens: members["expect"] = "opens"
    case .refused(let code):
      members["expect"] = "refused"
      members["stage"] = .string(code.stage.rawValue)
      members["code"] = .string(code.rawValue)
    }
    return members
  }

  private static func expectation(_ variant: TokenVariant) -> String {
    switch variant.expectation {
    case .opens: "opens"
    case .refused(let code): "refused at \(code.stage.rawValue) as \(code.rawValue)"
    }
  }
}
