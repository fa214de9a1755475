import AcquirerSandbox
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import ProviderEmulators
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing
import TokenIssuer

/// The emulated Braintree by its bytes.
@Suite struct `The emulated Braintree` {
  @Test func `lets in only known keys, for their own merchant, with the version of the API`() async throws {
    try await braintree { call async throws in
      #expect(try await call.post("/transactions", Self.sale(), keys: "a:b").status == 401)
      #expect(try await call.send(.post, "/merchants/other/transactions", Self.sale()).status == 403)
      #expect(try await call.post("/transactions", Self.sale(), version: "5").status == 426)
      #expect(try await call.post("/transactions", "<transaction>").status == 400)
      #expect(try await call.post("/transactions", "<!DOCTYPE a><transaction/>").status == 400)
    }
  }

  @Test func `takes elements with hyphens or underscores, and refuses those that Braintree does not have`() async throws
  {
    try await braintree { call async throws in
      #expect(try await call.post("/transactions", Self.sale()).status == 201)
      let hyphens = Self.sale(cryptogram: "AAAA").replacing("_", with: "-").replacing("tender-", with: "tender_")
      #expect(try await call.post("/transactions", hyphens).status == 201)
      let typo = Self.sale().replacing("order_id", with: "order_identifier")
      #expect(try await call.post("/transactions", typo).status == 403)
      let card = Self.sale().replacing("eci_indicator", with: "eci")
      #expect(try await call.post("/transactions", card).status == 403)
    }
  }

  @Test(arguments: [
    ("<amount>30.00</amount>", "", "81502"), ("30.00", "30.001", "81503"), ("30.00", "0.00", "81531"),
    ("tender_eur", "tender_xxx", "91513"), ("<cryptogram>AgAAAAAAAIR8CQrXcIhbQAAAAAA=</cryptogram>", "", "93511"),
    ("4761739000000012", "", "93508"), ("<expiration_month>12</expiration_month>", "", "93509"),
    ("apple_pay_card>", "credit_card>", "91577"),
    ("<order_id>", "<customer><email>maud@example.c</email></customer><order_id>", "81604"),
    ("<order_id>", "<customer><phone>\(String(repeating: "1", count: 256))</phone></customer><order_id>", "81614"),
    ("<order_id>", "<billing><country_code_alpha2>JA</country_code_alpha2></billing><order_id>", "91814"),
    ("<order_id>", "<billing><postal_code>1234567890</postal_code></billing><order_id>", "81809"),
    ("<order_id>", "<billing><postal_code>-1</postal_code></billing><order_id>", "81813"),
    (
      "<order_id>",
      "<billing><street_address>\(String(repeating: "a", count: 256))</street_address></billing><order_id>",
      "81812"
    ),
  ])
  func `names what is wrong with a sale, by Braintree's code`(right: String, wrong: String, code: String) async throws {
    try await braintree { call async throws in
      let answer = try await call.post("/transactions", Self.sale().replacing(right, with: wrong))
      #expect(answer.status == 422 && answer.body.contains("<code>\(code)</code>"), "\(answer)")
    }
  }

  @Test func `a transaction goes through its states, and only forwards`() async throws {
    try await braintree { call async throws in
      let id = try await call.sell()
      #expect(try await call.post("/transactions/\(id)/refund", "").body.contains("91506"))
      let taken = try await call.put("/transactions/\(id)/submit_for_settlement", Self.amount("20.00"))
      #expect(taken.status == 200 && taken.has("status", "submitted_for_settlement") && taken.has("amount", "20.00"))
      #expect(try await call.put("/transactions/\(id)/submit_for_settlement").body.contains("91507"))
      #expect(try await call.put("/transactions/\(id)/settle").has("status", "settled"))
      #expect(try await call.put("/transactions/\(id)/void").body.contains("91504"))
      let refund = try await call.post("/transactions/\(id)/refund", Self.amount("5.00"))
      #expect(refund.status == 201 && refund.has("type", "credit") && refund.has("refunded-transaction-id", id))
      #expect(try await call.post("/transactions/\(id)/refund", Self.amount("15.01")).body.contains("91521"))
      #expect(try await call.get("/transactions/unknown").status == 404)
    }
  }

  @Test func `parts are settled up to the amount, and a last one ends it`() async throws {
    try await braintree { call async throws in
      let id = try await call.sell()
      let path = "/transactions/\(id)/submit_for_partial_settlement"
      let first = try await call.post(path, Self.amount("10.00"))
      #expect(first.status == 201 && first.has("authorized-transaction-id", id))
      #expect(try await call.get("/transactions/\(id)").has("status", "settlement_pending"))
      #expect(try await call.post(path, Self.amount("20.01")).body.contains("91522"))
      let last = "<transaction><amount>5.00</amount><final_capture type=\"boolean\">true</final_capture></transaction>"
      #expect(try await call.post(path, last).status == 201)
      #expect(try await call.get("/transactions/\(id)").has("status", "settlement_confirmed"))
      #expect(try await call.post(path, Self.amount("1.00")).body.contains("915103"))
    }
  }

  @Test func `the same sale twice is two, unless the account rejects duplicates`() async throws {
    for (window, isRejected) in [(Duration.zero, false), (.seconds(30), true)] {
      try await braintree(duplicates: window) { call async throws in
        _ = try await call.sell()
        let second = try await call.post("/transactions", Self.sale(cryptogram: "AAAA"))
        #expect(second.has("gateway-rejection-reason", "duplicate") == isRejected)
        #expect((second.status == 422) == isRejected)
      }
    }
  }

  @Test func `a search finds by order id, status, type, time and amount, and pages`() async throws {
    try await braintree { call async throws in
      let id = try await call.sell()
      for (criteria, isFound) in [
        ("<order_id><is>R1</is></order_id>", true), ("<order_id><is>R2</is></order_id>", false),
        ("<order_id><starts_with>R</starts_with></order_id>", true),
        ("<status type=\"array\"><item>authorized</item></status>", true),
        ("<type type=\"array\"><item>credit</item></type>", false),
        ("<amount><min>30.00</min><max>30.00</max></amount>", true), ("<amount><max>29.99</max></amount>", false),
        ("<created_at><min type=\"datetime\">2020-01-01T00:00:00Z</min></created_at>", true),
        ("<created_at><max type=\"datetime\">2020-01-01T00:00:00Z</max></created_at>", false),
        ("<ids type=\"array\"><item>\(id)</item></ids>", true), ("<id><is>\(id)x</is></id>", false),
      ] {
        let search = "<search>\(criteria)</search>"
        let ids = try await call.post("/transactions/advanced_search_ids", search)
        #expect(ids.body.contains("<item>\(id)</item>") == isFound, "\(criteria)")
        let page = try await call.post("/transactions/advanced_search", search)
        #expect(page.has("id", id) == isFound, "\(criteria)")
      }
      #expect(try await call.post("/transactions/advanced_search", "<search><user/></search>").status == 422)
    }
  }

  @Test func `GraphQL answers what is selected, and refuses what it does not know`() async throws {
    try await braintree { call async throws in
      #expect(try await call.graphQL("query { ping }")["data"]?["ping"] == "pong")
      #expect(try await call.graphQL("query Q { p: ping }")["data"]?["p"] == "pong")
      for (query, code) in [
        ("query { pong }", "VALIDATION"), ("mutation { ping }", "VALIDATION"), ("query { ping ", "VALIDATION"),
        ("mutation($input: X!) { authorizePaymentMethod(input: $input) { transaction { nonsense } } }", "VALIDATION"),
      ] {
        let answer = try await call.graphQL(query)
        #expect(Self.errorClass(answer) == .string(code), "\(query)")
      }
      #expect(Self.errorClass(try await call.graphQL("query { ping }", version: "now")) == "UNSUPPORTED_CLIENT")
      #expect(Self.errorClass(try await call.graphQL("query { ping }", keys: "a:b")) == "AUTHENTICATION")
      let unknown = try await call.graphQL(
        "mutation($input: TokenizeApplePayCardInput!) { tokenizeApplePayCard(input: $input) { paymentMethod { id } } }",
        input: ["applePaymentToken": ["paymentData": "e30=", "paymentNetwork": "Visa", "colour": "red"]])
      #expect(Self.errorClass(unknown) == "VALIDATION")
    }
  }

  @Test func `neither card nor cryptogram is on its disk, and the search would find them`() async throws {
    let directory = try TemporaryDirectory()
    try await braintree(in: directory) { call async throws in _ = try await call.sell() }
    let files = try directory.bytes()
    #expect(files.contains("tender_eur"))
    #expect(!files.contains("4761739000000012") && !files.contains("AgAAAAAAAIR8CQrXcIhbQAAAAAA="))
  }

  private static func errorClass(_ answer: JSONValue) -> JSONValue? {
    guard case .array(let errors)? = answer["errors"] else { return nil }
    return errors.first?["extensions"]?["errorClass"]
  }

  fileprivate static func sale(cryptogram: String = "AgAAAAAAAIR8CQrXcIhbQAAAAAA=") -> String {
    """
    <transaction><amount>30.00</amount><apple_pay_card><number>4761739000000012</number>\
    <cryptogram>\(cryptogram)</cryptogram><expiration_month>12</expiration_month>\
    <expiration_year>2031</expiration_year><eci_indicator>07</eci_indicator></apple_pay_card>\
    <order_id>R1</order_id><merchant_account_id>tender_eur</merchant_account_id><type>sale</type></transaction>
    """
  }

  private static func amount(_ text: String) -> String { "<transaction><amount>\(text)</amount></transaction>" }

  private func braintree(
    in directory: TemporaryDirectory? = nil, duplicates: Duration = .zero,
    _ body: @escaping @Sendable (BraintreeCaller) async throws -> Void
  ) async throws {
    let directory = try directory ?? TemporaryDirectory()
    var account = BraintreeAccount.sandbox
    account.duplicateWindow = duplicates
    let sandbox = try await BraintreeSandbox(
      databasePath: "\(directory.path)/braintree.sqlite", tokenRootPEM: try SandboxPKI(clock: .system).rootPEM,
      accounts: [account])
    let router = Router()
    sandbox.addRoutes(to: router)
    try await Application(router: router).test(.router) { try await body(BraintreeCaller(client: $0)) }
    await sandbox.close()
  }
}

private struct BraintreeCaller: Sendable {
  let client: any TestClientProtocol

  struct Answer: Sendable {
    let status: Int
    let body: String

    func has(_ name: String, _ text: String) -> Bool { body.contains("<\(name)>\(text)</\(name)>") }
  }

  func get(_ path: String) async throws -> Answer { try await send(.get, "/merchants/tender_sandbox\(path)", "") }

  func put(_ path: String, _ body: String = "") async throws -> Answer {
    try await send(.put, "/merchants/tender_sandbox\(path)", body)
  }

  func post(
    _ path: String, _ body: String, keys: String = "sandbox_public_key:sandbox_private_key", version: String = "6"
  ) async throws -> Answer {
    try await send(.post, "/merchants/tender_sandbox\(path)", body, keys: keys, version: version)
  }

  func send(
    _ method: HTTPRequest.Method, _ path: String, _ body: String,
    keys: String = "sandbox_public_key:sandbox_private_key", version: String = "6"
  ) async throws -> Answer {
    var headers: HTTPFields = [
      .authorization: "Basic " + Base64.encode(Array(keys.utf8)), .contentType: "application/xml",
    ]
    if let name = HTTPField.Name("X-ApiVersion") { headers[name] = version }
    return try await client.execute(uri: path, method: method, headers: headers, body: ByteBuffer(string: body)) {
      Answer(status: Int($0.status.code), body: String(buffer: $0.body))
    }
  }

  /// Sells, and returns the transaction's id.
  func sell() async throws -> String {
    let answer = try await post("/transactions", `The emulated Braintree`.sale())
    try #require(answer.status == 201)
    let match = try #require(answer.body.firstMatch(of: /<id>([a-z0-9]+)<\/id>/))
    return String(match.output.1)
  }

  func graphQL(
    _ query: String, input: JSONValue = [:], keys: String = "sandbox_public_key:sandbox_private_key",
    version: String = "2019-01-01"
  ) async throws -> JSONValue {
    var headers: HTTPFields = [
      .authorization: "Basic " + Base64.encode(Array(keys.utf8)), .contentType: "application/json",
    ]
    if let name = HTTPField.Name("Braintree-Version") { headers[name] = version }
    let body: JSONValue = ["query": .string(query), "variables": ["input": input]]
    return try await client.execute(
      uri: "/graphql", method: .post, headers: headers, body: ByteBuffer(bytes: body.serialized())
    ) { try JSONReader.read($0.body.readableBytesView) }
  }
}

extension TemporaryDirectory {
  /// Every byte of its files.
  fileprivate func bytes() throws -> String {
    try FileManager.default.contentsOfDirectory(atPath: path).map {
      String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\($0)")), as: UTF8.self)
    }.joined()
  }
}
