import Administration
import ArgumentParser
import CommandSupport
import Foundation
import HTTPTransport
import Settings
import StrictJSON
import TenderPayments
import TenderServer

/// `tender link`
struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Payment links of a merchant: makes, shows and cancels them.",
    discussion: "A link is a hosted page with an address that you send. It is paid once, and ends at its date.",
    subcommands: [Create.self, Show.self, Cancel.self])

  /// `tender link create`
  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Makes a link.")
    @OptionGroup var call: LinkOptions
    @Option(parsing: .unconditional, help: "What is to be paid, in the merchant's currency, for example 12.50.")
    var amount: String
    @Option(help: "The merchant's own number of the order.") var reference: String?
    @Option(help: "Until when it can be paid, for example 2026-12-24; 30 days by default, six months at most.")
    var expires: String?
    @Option(help: "The name of the shopper, for the page and for `tender link show`.") var recipient: String?
    @Flag(help: "Only hold the money, to be captured later.") var hold = false

    func validate() throws {
      guard expires == nil || end != nil else { throw ValidationError("--expires is a date, for example 2026-12-24.") }
    }

    func run() async throws { try call.show(try await make()) }

    /// Makes the link.
    func make() async throws -> JSONValue {
      let shop = try await call.shop()
      let amount = try shop.currency.amount(typed: amount)
      let asked = ["\(amount)", reference.map { "reference \($0)" }, hold ? "hold" : nil].compactMap { $0 }
      return try await call.audit(.create, shop, asked.joined(separator: ", ")) {
        try await call.answer(shop, "POST", "", document(amount))
      }
    }

    /// A day ends as its last second does, by this machine's time zone.
    private var end: Timestamp? {
      guard let expires, let begin = Timestamp(rfc3339: expires + "T00:00:00Z") else {
        return expires.flatMap { Timestamp(rfc3339: $0) }
      }
      let last = begin.adding(.seconds(86_399))
      let shift = TimeZone.current.secondsFromGMT(for: Date(timeIntervalSince1970: Double(last.seconds)))
      return last.adding(.seconds(-Int64(shift)))
    }

    private func document(_ amount: Amount) -> JSONValue {
      var details = JSONObject()
      details["expirationDate"] = end.map { .string("\($0)") }
      details["recipientName"] = recipient.map { .string($0) }
      return [
        "order": [
          "amountOfMoney": ["amount": .integer(amount.minorUnits), "currencyCode": .string(amount.currency.code)],
          "references": reference.map { ["merchantReference": .string($0)] } ?? [:],
        ],
        "paymentLinkSpecificInput": .object(details),
        "mobilePaymentMethodSpecificInput": ["authorizationMode": .string(hold ? "FINAL_AUTHORIZATION" : "SALE")],
      ]
    }
  }

  /// `tender link show`
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Shows a link, and its payment if there is one.")
    @OptionGroup var call: LinkOptions
    @Argument(help: "The link's id.") var id: String

    func validate() throws { try LinkOptions.check(id) }
    func run() async throws { try call.show(try await call.answer(try await call.shop(), "GET", "/\(id)")) }
  }

  /// `tender link cancel`
  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Cancels a link that is not paid.")
    @OptionGroup var call: LinkOptions
    @Argument(help: "The link's id.") var id: String

    func validate() throws { try LinkOptions.check(id) }

    func run() async throws {
      let shop = try await call.shop()
      let link = try await call.audit(.cancel, shop, "link \(id)") {
        _ = try await call.answer(shop, "POST", "/\(id)/cancel")
        return try await call.answer(shop, "GET", "/\(id)")
      }
      try call.show(link)
    }
  }
}

/// Whose links, and where the server is.
struct LinkOptions: ParsableArguments {
  @Option(help: "The merchant's id, or its folder: its API key signs.") var merchant: String
  @Option(help: "The server's address, such as http://localhost:8400; that of the configuration by default.")
  var server: String?
  @OptionGroup var store: MerchantStoreOptions

  /// In whose name links are made, and where.
  struct Shop: Sendable {
    let key: (merchant: String, id: String, secret: String)
    let currency: Currency
    let server: String
    /// Whether the server's store is at hand, and so its audit chain.
    let isStored: Bool
  }

  /// From the merchant's folder with `--server`, else from the server or its store.
  func shop() async throws -> Shop {
    if let server, FileManager.default.fileExists(atPath: merchant) || merchant.contains("/") {
      let currency = try MerchantFolder.currency(at: merchant)
      return Shop(
        key: try MerchantFolder.apiKey(at: merchant), currency: currency, server: server, isStored: false)
    }
    guard !merchant.contains("/") else {
      throw MistakenCall("--merchant \(merchant) is a folder: name the server too, by --server")
    }
    guard let signer = try await store.ask(.showSigner(merchant: merchant)).signer else {
      throw CallFailure("the server names no API key of \(merchant)")
    }
    return Shop(
      key: (merchant, signer.keyID, signer.secret), currency: signer.currency, server: server ?? signer.publicURL,
      isStored: true)
  }

  /// Notes in the office's audit chain what is asked, and what came of it.
  func audit(
    _ action: LinkAction, _ shop: Shop, _ asked: String, _ work: () async throws -> JSONValue
  ) async throws -> JSONValue {
    func note(_ end: AttemptEnd?, _ words: String) async throws {
      guard shop.isStored else { return }
      _ = try await store.ask(.noteLink(action, merchant: shop.key.merchant, end: end, words: words))
    }
    try await note(nil, asked)
    let link: JSONValue
    do { link = try await work() } catch {
      try await note(error is CallFailure ? .refused : .failed, ErrorLine.text(for: error))
      throw error
    }
    try await note(.outcome, "link \(link["paymentLinkId"]?.text ?? ""): \(link["status"]?.text ?? "")")
    return link
  }

  /// Ids are a part of a path.
  static func check(_ id: String) throws {
    guard !id.isEmpty, id.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else {
      throw ValidationError("“\(id)” is no link's id, which has digits and the letters a to f.")
    }
  }

  /// - Parameter path: below `/v2/{merchantId}/paymentlinks`.
  func answer(_ shop: Shop, _ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    let answer = try await LiveHTTPClient.during { sender in
      try await SigningShop(key: shop.key, server: shop.server, sender: sender).call(
        method, "/paymentlinks\(path)", body)
    }
    guard answer.status != 404 || path.isEmpty || answer.body["errors"] == nil else {
      throw CallFailure("\(shop.key.merchant) has no link \(path.split(separator: "/")[0])")
    }
    guard answer.isSuccess else { throw CallFailure(Self.reason(answer)) }
    return answer.body
  }

  func show(_ link: JSONValue) throws {
    guard !store.json else { return Terminal.say(String(decoding: link.serialized(), as: UTF8.self)) }
    if let amount = Self.amount(link["paymentLinkOrder"]?["amount"]) { Terminal.say("amount   \(amount)") }
    let names = [
      ("for", "recipientName"), ("id", "paymentLinkId"), ("address", "redirectionUrl"), ("status", "status"),
      ("expires", "expirationDate"), ("payment", "paymentId"),
    ]
    for (label, name) in names {
      guard let text = link[name]?.text else { continue }
      Terminal.say(label.padding(toLength: 9, withPad: " ", startingAt: 0) + text)
    }
  }

  private static func amount(_ money: JSONValue?) -> Amount? {
    guard case .integer(let units)? = money?["amount"],
      let code = money?["currencyCode"]?.text, let currency = Currency(code: code)
    else { return nil }
    return Amount(minorUnits: units, currency: currency)
  }

  private static func reason(_ answer: JSONClient.Answer) -> String {
    guard let fault = answer.body["errors"]?.elements.first else { return answer.errorText }
    let (code, message) = (fault["id"]?.text ?? "HTTP \(answer.status)", fault["message"]?.text ?? "")
    guard let property = fault["propertyName"]?.text else { return "\(code): \(message)" }
    guard let option = options[property] else { return "\(code): \(message) (\(property))" }
    return "\(option): \(message.replacing("\(property) ", with: "")) (\(code))"
  }

  /// Where the properties of a link come from.
  private static let options = [
    "paymentLinkSpecificInput.expirationDate": "--expires", "paymentLinkSpecificInput.recipientName": "--recipient",
    "order.references.merchantReference": "--reference", "order.amountOfMoney.amount": "--amount",
  ]
}
