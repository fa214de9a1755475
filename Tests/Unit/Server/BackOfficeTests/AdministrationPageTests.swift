import Acquiring
import Administration
import BackOffice
import Foundation
import HTTPTypes
import Ledger
import Mail
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderTesting
import Synchronization
import Testing
import Webhooks

@Suite struct `The pages of merchants` {
  @Test func `add a merchant and publish terms, for who administers every merchant`() async throws {
    let bench = try await OfficeBench()
    let new = [
      "id": "third", "identifier": "merchant.test.third", "name": "Third", "country": "IE", "currency": "EUR",
      "reason": "a new shop",
    ]
    let terms = ["version": "2", "wording": "Pay.", "days": "30", "reason": "new terms"]
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.post("/merchants", new).status == .forbidden)
      #expect(try await visitor.post("/merchants/terms", terms).status == .forbidden)
    }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      #expect(try await visitor.post("/merchants", new.filter { $0.key != "name" }).status == .badRequest)
      #expect(try await visitor.post("/merchants", new).headers[.location] == "/merchants/third?done=changed")
      #expect(try await visitor.post("/merchants/terms", terms).status == .seeOther)
      #expect(try await visitor.get("/audit").text.contains("merchant.add"))
    }
    #expect(try await bench.merchants.merchant("third")?.merchantIdentifier == "merchant.test.third")
    #expect(try await bench.merchants.parts(of: "third").terms?.version == "2")
  }

  @Test func `check, register and unregister a domain, sign a certificate and edit a setting`() async throws {
    let portal = try await SimulatedPortal()
    let bench = try await OfficeBench(apple: portal.sender)
    try await portal.add("merchant.test.shop")
    let (own, foreign) = (try await bench.request(of: "shop"), try await bench.request(of: "other"))
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      func changes(_ change: String, _ fields: [String: String]) async throws -> HTTPResponse.Status {
        let page = try await visitor.post("/merchants/shop/\(change)", fields.merging(["reason": "because"]) { $1 })
        #expect(page.status == .seeOther || page.status == .notFound, "\(change): \(page.text)")
        return page.status
      }
      @Sendable func domain() async throws -> StoredDomainReport? {
        try await bench.merchants.parts(of: "shop").domains?.first
      }
      #expect(try await changes("check-domain", ["domain": "shop.example"]) == .seeOther)
      #expect(try await domain()?.finding?.hasPrefix("there is no association file") == true)
      #expect(try await changes("register-domain", ["domain": "shop.example"]) == .seeOther)
      let registered = try await domain()
      #expect(registered?.registeredAt != nil && registered?.hasAssociation == true)
      #expect(try await changes("unregister-domain", ["domain": "shop.example"]) == .seeOther)
      #expect(try await domain()?.registeredAt == nil)
      #expect(try await changes("edit", ["setting": "displayName", "value": "Shop & Co"]) == .seeOther)
      #expect(try await visitor.get("/merchants/shop").text.contains("Shop &amp; Co"))
      #expect(try await changes("sign-certificate", ["certificate": own.id]) == .seeOther)
      #expect(try await bench.request(of: "shop").certificate != nil)
      #expect(try await changes("sign-certificate", ["certificate": foreign.id]) == .notFound)
      let registration = try await visitor.get("/merchants/shop/registration")
      #expect(registration.status == .conflict && registration.text.contains("only a platform registers domains"))
      #expect(try await visitor.get("/merchants/other/registration").status == .notFound)
    }
  }

  @Test func `show the serial number of a certificate as OpenSSL prints it, and none of a request`() async throws {
    let portal = try await SimulatedPortal()
    let bench = try await OfficeBench(apple: portal.sender)
    try await portal.add("merchant.test.shop")
    let id = try await bench.request(of: "shop").id
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      @Sendable func serialNumber() async throws -> String? {
        let page = try await visitor.get("/merchants/shop").text
        let row = page.firstMatch(
          of: /<tr><td>processing<br>.*?serial number <code>([^<]+)<\/code>/.dotMatchesNewlines())
        return row?.output.1.description
      }
      #expect(try await serialNumber() == "–")
      _ = try await visitor.post("/merchants/shop/sign-certificate", ["certificate": id, "reason": "because"])
      let pem = try #require(try await bench.request(of: "shop").certificate)
      let printed = try ChildProcess.run(["openssl", "x509", "-noout", "-serial"], input: Array(pem.utf8)).output
      #expect("serial=\(try await serialNumber() ?? "")\n" == String(decoding: printed, as: UTF8.self))
    }
  }

  @Test func `stand in the audit chain before, and with what came of them after`() async throws {
    let bench = try await OfficeBench()
    let former = try await bench.merchants.parts(of: "shop").keys?.map(\.id) ?? []
    let secret = try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let edit = ["setting": "currencyCode", "value": "YEN", "reason": "because"]
      #expect(try await visitor.post("/merchants/shop/edit", edit).status == .conflict)
      let key = ["kind": "api-key", "reason": "because"]
      let page = try await visitor.post("/merchants/shop/add-key", key)
      return try #require(page.text.firstMatch(of: /class="secret">([0-9a-f]{64})</)).output.1.description
    }
    let keys = try await bench.merchants.parts(of: "shop").keys ?? []
    let id = try #require(keys.map(\.id).first { !former.contains($0) })
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: "shop") }.reversed()
      .map { "\($0.action.action): \($0.action.after)" }
    #expect(entries.count == 4 && entries[1].hasPrefix("merchant.edit.refused: ") && entries[1].contains("YEN"))
    #expect(entries[0] == "merchant.edit: currencyCode: YEN")
    #expect(entries[2...] == ["key.add: api-key", "key.add.outcome: key \(id)"], "\(entries)")
    #expect(!entries.contains { $0.contains(secret) })
  }
}

@Suite struct `Exported merchants` {
  @Test func `leave for an administrator of the merchant who types a new code, and the audit chain says so`()
    async throws
  {
    let bench = try await OfficeBench()
    let wish = ["reason": "moves to the new server"]
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.post("/merchants/shop/export", wish).status == .forbidden)
    }
    try await bench.user("anna", [Grant(.administrator, of: "shop")])
    try await bench.visit { visitor async throws in
      try await visitor.signIn("anna")
      let used = try #require(try await bench.secret(of: "anna")?.code(at: bench.clock.now))
      bench.clock.advance(.seconds(30))
      let code = try #require(try await bench.secret(of: "anna")?.code(at: bench.clock.now))
      for wrong in ["", "000000", used] {
        let page = try await visitor.post("/merchants/shop/export", wish.merging(["code": wrong]) { $1 })
        #expect(page.status == .badRequest && !page.text.contains("\"secrets\""))
      }
      #expect(
        try await visitor.post("/merchants/shop/export", ["code": code]).status == .badRequest, "without a reason")
      #expect(
        try await visitor.post("/merchants/other/export", wish.merging(["code": code]) { $1 }).status == .notFound)
      let page = try await visitor.post("/merchants/shop/export", wish.merging(["code": code]) { $1 })
      let bundle = try MerchantBundle(uploaded: Array(page.text.utf8))
      #expect(page.status == .ok && bundle.id == "shop" && bundle.secrets.count == 3)
      let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: "shop") }
      #expect(entries.filter { $0.action.action == "merchant.export" }.count == 1)
      #expect(!entries.contains { entry in bundle.secrets.contains { "\(entry)".contains($0.secret) } })
      #expect(page.headers[.contentDisposition] == "attachment; filename=\"shop.json\"")
      #expect(page.headers[.cacheControl] == "no-store")
      let again = try await visitor.post("/merchants/shop/export", wish.merging(["code": code]) { $1 })
      #expect(again.status == .badRequest, "a code is taken once")
    }
  }

  @Test func `are guessed at no faster than a sign-in`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.administrator)])
    try await bench.visit { visitor async throws in
      try await visitor.signIn("anna")
      bench.clock.advance(.seconds(30))
      let code = try #require(try await bench.secret(of: "anna")?.code(at: bench.clock.now))
      for _ in 0..<6 {
        _ = try await visitor.post("/merchants/shop/export", ["code": "000000", "reason": "because"])
      }
      let page = try await visitor.post("/merchants/shop/export", ["code": code, "reason": "because"])
      #expect(page.status == .badRequest)
    }
  }

  @Test func `come in for who administers every merchant`() async throws {
    let bench = try await OfficeBench()
    let third = MerchantProvisioning.NewMerchant(
      id: "third", merchantIdentifier: "merchant.test.third", displayName: "Third", countryCode: "IE",
      currencyCode: "EUR", domains: ["third.example"])
    let bundle = try MerchantBundle(third, random: .system)
    let file = String(decoding: try JSONEncoder().encode(bundle), as: UTF8.self)
    let reason = ["reason": "from the old server"]
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      let page = try await visitor.upload("/merchants/import", reason, file: file, as: "merchant")
      #expect(page.status == .forbidden)
    }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let page = try await visitor.upload("/merchants/import", reason, file: file, as: "merchant")
      #expect(page.headers[.location] == "/merchants/third?done=changed")
      for (fields, file) in [([:], file), (reason, "nothing"), (reason, "")] {
        let page = try await visitor.upload("/merchants/import", fields, file: file, as: "merchant")
        #expect(page.status == .badRequest || page.status == .conflict)
      }
    }
    #expect(try await bench.merchants.merchants().map(\.id).sorted() == ["other", "shop", "third"])
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: "third") }
    #expect(entries.map(\.action.action) == ["merchant.import.outcome", "merchant.import"])
    #expect(entries.last?.action.after == bundle.summary)
  }
}

@Suite struct `The page of webhooks` {
  @Test func `tests an endpoint for an operator, and gives it another address for an administrator`() async throws {
    let bench = try await OfficeBench()
    let test = ["merchant": "shop", "endpoint": "orders"]
    let address = test.merging(["url": "https://new.example/hooks", "reason": "moved"]) { $1 }
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      let page = try await visitor.post("/webhooks/test", test)
      #expect(page.status == .ok && page.text.contains("HTTP 500"))
      #expect(
        try await visitor.post("/webhooks/test", ["merchant": "other", "endpoint": "orders"]).status == .notFound)
      #expect(try await visitor.post("/webhooks/address", address).status == .forbidden)
      let endpoints = try await visitor.get("/webhooks").text
      #expect(endpoints.contains("https://192.0.2.1/hooks") && !endpoints.contains("https://192.0.2.2/hooks"))
    }
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.post("/webhooks/address", address).status == .seeOther)
      #expect(
        try await visitor.post("/webhooks/address", address.merging(["url": "a,b"]) { $1 }).status == .badRequest)
      let named = try await visitor.post("/webhooks/address", address.merging(["endpoint": "my orders"]) { $1 })
      #expect(named.status == .badRequest && named.text.contains("“my orders” is no name of an endpoint"))
      #expect(named.text.firstMatch(of: /<input name="endpoint"[^>]*aria-invalid/) != nil)
      let none = ["endpoint": "ordres", "url": ""]
      let removed = try await visitor.post("/webhooks/address", address.merging(none) { $1 })
      #expect(removed.status == .badRequest && removed.text.contains("shop has no endpoint “ordres”"))
    }
    #expect(try await bench.merchants.webhooks()["shop"]?.map(\.url) == ["https://new.example/hooks"])
  }
}

@Suite struct `A replay` {
  @Test func `of an event that is not there is refused, and stands in the audit chain as refused`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.operator)]) { visitor async throws in
      let form = ["payment": id.rawValue, "sequence": "9", "reason": "lost"]
      let page = try await visitor.post("/webhooks/replay", form)
      #expect(page.status == .conflict && page.text.contains("has no event for an endpoint"), "\(page.text)")
    }
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
    #expect(entries.map(\.action.action) == ["webhook.replay.refused", "webhook.replay"])
  }
}

@Suite struct `A replay of several` {
  /// Events that were given up.
  private func giveUp(_ payments: [(PaymentID, merchant: String)], _ bench: OfficeBench) async throws {
    try await bench.database.write { store in
      for (id, merchant) in payments {
        try store.run(
          """
          INSERT INTO webhook_deliveries (payment, seq, endpoint, url, merchant, state, tries, next_try, lease_until,
            fence, created_at)
          VALUES ($1, 1, 'orders', 'https://192.0.2.1/hooks', $2, 'dead', 8, 0, 0, 0, 0)
          """, .text(id.rawValue), .text(merchant))
      }
    }
  }

  private func states(_ bench: OfficeBench) async throws -> [String] {
    try await bench.database.read {
      try $0.rows("SELECT state FROM webhook_deliveries ORDER BY payment").map { try $0.text("state") }
    }
  }

  @Test func `brings back those that were chosen, each with its entry, and shows what was chosen after a mistake`()
    async throws
  {
    let bench = try await OfficeBench()
    let ids = [try await bench.captured(), try await bench.captured("order-2"), try await bench.captured("order-3")]
    try await giveUp(ids.map { ($0, "shop") }, bench)
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      let list = try await visitor.get("/webhooks").text
      for id in ids { #expect(list.contains("name=\"delivery\" value=\"\(id):1\"")) }
      let wrong = try await visitor.post("/webhooks/replay", ["delivery": "\(ids[1]):1"])
      #expect(wrong.status == .badRequest && wrong.text.matches(of: /checked=""/).count == 1, "\(wrong.text)")
      let none = try await visitor.post("/webhooks/replay", ["reason": "back"])
      #expect(none.status == .badRequest && none.text.contains("Choose what is sent again"))
      let fields = [("delivery", "\(ids[0]):1"), ("delivery", "\(ids[1]):1"), ("reason", "it is up again")]
      #expect(try await visitor.post("/webhooks/replay", pairs: fields).status == .seeOther)
    }
    #expect(try await states(bench).filter { $0 == "waiting" }.count == 2)
    for id in ids.prefix(2) {
      let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: id.rawValue) }
      #expect(entries.map(\.action.action) == ["webhook.replay.outcome", "webhook.replay"])
    }
  }

  @Test func `brings back none where one of them is another merchant's`() async throws {
    let bench = try await OfficeBench()
    let ids = [try await bench.captured(), try await bench.captured("order-2")]
    try await giveUp(ids.map { ($0, "shop") }, bench)
    try await bench.database.write {
      try $0.run("UPDATE payments SET merchant = 'other' WHERE id = $1", .text(ids[1].rawValue))
    }
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      let fields = [("delivery", "\(ids[0]):1"), ("delivery", "\(ids[1]):1"), ("reason", "it is up again")]
      #expect(try await visitor.post("/webhooks/replay", pairs: fields).status == .notFound)
    }
    #expect(try await states(bench) == ["dead", "dead"])
  }
}

@Suite struct `The last administrator` {
  @Test func `stays while nobody else can sign in as one, whoever is invited`() async throws {
    let bench = try await OfficeBench()
    try await bench.user("anna", [Grant(.administrator)])
    let administration = bench.office.users()
    _ = try await administration.perform(.add(name: "bert", grants: [Grant(.administrator)], refundLimits: ""))
    await #expect(throws: OfficeRefusal.self) { try await administration.perform(.setEnabled(false, name: "anna")) }
    _ = try await administration.perform(.setEnabled(false, name: "bert"))
    try await bench.user("carla", [Grant(.administrator)])
    try await bench.visit { anna in
      try await anna.signIn("anna")
      let change = ["role": "viewer", "merchants": "", "reason": "enough"]
      #expect(try await anna.post("/users/anna/change", change).headers[.location] == "/?done=changed")
      #expect(try await anna.get("/").status == .ok)
    }
  }
}

@Suite struct `Refund limits` {
  @Test func `are one for each currency`() async throws {
    let bench = try await OfficeBench()
    let call = UserCall.add(name: "anna", grants: [Grant(.operator)], refundLimits: "100.00 EUR, 50 USD, 50.00 EUR")
    let refusal = await #expect(throws: OfficeRefusal.self) {
      try await bench.office.users().perform(call)
    }
    #expect(refusal?.reason.contains("there is another amount in EUR") == true)
    let comma = await #expect(throws: OfficeRefusal.self) {
      try await bench.office.users().perform(
        .add(name: "bert", grants: [Grant(.operator)], refundLimits: "50,00 EUR"))
    }
    #expect(comma?.reason.hasPrefix("“50,00 EUR”: use a point before the decimals") == true)
  }
}

@Suite struct `Refund limits of who is no operator` {
  @Test(arguments: [Role.viewer, .administrator]) func `are refused, because they limit nothing`(_ role: Role)
    async throws
  {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let fields = ["name": "bert", "role": role.rawValue, "limits": "10.00 EUR", "reason": "new"]
      let page = try await visitor.post("/users", fields)
      #expect(page.status == .badRequest && page.text.contains("Only an operator has refund limits"), "\(page.text)")
      #expect(try await visitor.post("/users", fields.merging(["role": "operator"]) { $1 }).status == .ok)
      #expect(try await visitor.post("/users/bert/change", fields).status == .badRequest)
      let change = try await visitor.post("/users/bert/change", fields.merging(["limits": ""]) { $1 })
      #expect(change.headers[.location] == "/users?done=changed")
    }
  }
}

@Suite struct `Invitations` {
  @Test func `are none for a user who is disabled, and open nothing until they are enabled`() async throws {
    let bench = try await OfficeBench()
    let administration = bench.office.users(actor: "command line (ann)")
    let added = try await administration.perform(.add(name: "bert", grants: [Grant(.viewer)], refundLimits: ""))
    let path = try #require(added.invitation)
    _ = try await administration.perform(.setEnabled(false, name: "bert"))
    let refusal = await #expect(throws: OfficeRefusal.self) { try await administration.perform(.invite(name: "bert")) }
    #expect(refusal?.reason.hasPrefix("bert is disabled") == true)
    try await bench.visit { visitor async throws in
      #expect(try await !visitor.get(path).text.contains("<svg"))
      _ = try await administration.perform(.setEnabled(true, name: "bert"))
      #expect(try await visitor.get(path).text.contains("<svg"))
    }
    let entries = try await bench.database.read { try OfficeAudit($0).entries(subject: "bert") }
    #expect(entries.allSatisfy { $0.action.actor == "command line (ann)" })
  }

  @Test func `are for merchants that are there`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let fields = ["name": "bert", "role": "viewer", "merchants": "shop, shpo", "reason": "new"]
      let page = try await visitor.post("/users", fields)
      #expect(page.status == .badRequest && page.text.contains("There is no merchant shpo."), "\(page.text)")
      #expect(page.text.firstMatch(of: /<input id="merchants"[^>]*aria-invalid/) != nil)
      #expect(try await visitor.post("/users", fields.merging(["merchants": "shop"]) { $1 }).status == .ok)
      let change = try await visitor.post("/users/bert/change", fields)
      #expect(change.status == .badRequest && change.text.contains("There is no merchant shpo."))
    }
  }

  @Test func `come with the office's address, so that the whole link can be given away`() async throws {
    let bench = try await OfficeBench()
    let call = UserCall.add(name: "anna", grants: [Grant(.viewer)], refundLimits: "")
    let answer = try await bench.office.users().perform(call)
    #expect(answer.office == OfficeBench.url && answer.invitation?.hasPrefix("/invitation/") == true)
  }

  @Test func `are sent to users whose name is an address, and not shown`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let fields = ["name": "anna@shop.example", "role": "viewer", "reason": "new"]
      let page = try await visitor.post("/users", fields)
      #expect(page.text.contains("sent by mail") && !page.text.contains("/invitation/"))
      // The mark of every merchant in the store is no merchant's name.
      let star = try await visitor.post("/users", fields.merging(["name": "star", "merchants": "*"]) { $1 })
      #expect(star.status == .badRequest && !star.text.contains("every merchant</td>"))
      let other = try await visitor.post("/users", fields.merging(["name": "anna"]) { $1 })
      #expect(other.text.contains("\(OfficeBench.url)/invitation/"))
      let mails = try await bench.deliverMail()
      #expect(mails.map(\.recipient.text) == ["anna@shop.example"])
      let text = try #require(mails.first?.text)
      let path = try #require(
        text.firstMatch(of: try Regex("\(OfficeBench.url)(/invitation/[0-9a-f]+)"))?.output[1].substring)
      #expect(try await visitor.get(String(path)).text.contains("<svg"))
    }
  }
}

@Suite struct `Searches of payments` {
  @Test func `are kept under a name for one user, with the fields that a search has`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let fields = ["name": "<b>big</b>", "query": "status=captured&amount=12.50%20EUR&evil=1"]
      let page = try await visitor.post("/payments/filters", fields)
      #expect(page.headers[.location] == "/payments?status=captured&amount=12%2e50%20EUR")
      let text = try await visitor.get("/payments").text
      #expect(text.contains("status=captured") && text.contains("&lt;b&gt;big") && !text.contains("evil"))
      _ = try await visitor.post("/payments/filters", fields.merging(["remove": "1"]) { $1 })
      #expect(try await !visitor.get("/payments").text.contains("&lt;b&gt;big"))
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      _ = try await visitor.post("/payments/filters", ["name": "mine", "query": "status=voided"])
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await !visitor.get("/payments").text.contains("mine"))
    }
  }

  @Test func `are fifty for a user, who is told so on the page that holds the search, and may replace one`()
    async throws
  {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      for number in 1...50 {
        let fields = ["name": "search \(number)", "query": "q=\(number)"]
        #expect(try await visitor.post("/payments/filters", fields).status == .seeOther)
      }
      let more = try await visitor.post("/payments/filters?q=sought", ["name": "one more", "query": "q=sought"])
      #expect(more.status == .conflict && more.text.contains("You have 50 searches"))
      #expect(more.value(of: "query") == "q=sought" && more.text.contains("one more"))
      let replaced = try await visitor.post("/payments/filters", ["name": "search 7", "query": "q=other"])
      #expect(replaced.status == .seeOther)
      #expect(try await visitor.get("/payments").text.contains("?q=other"))
      _ = try await visitor.post("/payments/filters", ["name": "search 8", "query": "", "remove": "1"])
      #expect(try await visitor.post("/payments/filters", ["name": "one more", "query": "q=a"]).status == .seeOther)
    }
  }
}

@Suite struct `What a person of one merchant sees` {
  /// Newer orders of another merchant with the same reference and address, more than a search looks at.
  private static func crowd(_ bench: OfficeBench) async throws {
    try await bench.database.write { store in
      for (order, merchant) in [("order-1", "shop")] + (0..<60).map({ ("z\($0)", "other") }) {
        try store.run(
          """
          INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
            updated_at) VALUES ($1, $2, $3, 'quote', 'HK-1042', 1250, 'EUR', 'collection', $4, $4)
          """, .text(order), .text(merchant), .text("basket of \(order)"), .time(store.now))
        try store.run(
          "INSERT INTO order_contacts (order_id, contact, updated_at, email) VALUES ($1, $2, $3, 'aoife@example.com')",
          .text(order), .text(#"{"emailAddress":"Aoife@example.com"}"#), .time(store.now))
      }
    }
  }

  @Test func `is found behind as many results of others as there may be`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured("order-1")
    try await Self.crowd(bench)
    try await bench.visit(as: [Grant(.viewer, of: "shop")]) { visitor async throws in
      for query in ["HK-1042", "aoife%40example.com"] {
        #expect(try await visitor.get("/payments?q=\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
    }
    try await bench.visit(as: [Grant(.viewer, of: "other")]) { visitor async throws in
      for query in ["HK-1042", "aoife%40example.com", "order-1"] {
        #expect(try await !visitor.get("/payments?q=\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
    }
  }

  @Test func `is found by a part of its reference or address, in any case, and by no mark that stands for others`()
    async throws
  {
    let bench = try await OfficeBench()
    let id = try await bench.captured("order-1")
    try await Self.crowd(bench)
    try await bench.visit(as: [Grant(.viewer, of: "shop")]) { visitor async throws in
      for query in ["hk-104", "K-1042", "+1042+", "OIFE%40exam", "Aoife"] {
        #expect(try await visitor.get("/payments?q=\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
      for query in ["HK_1042", "%25%25%25", "HK%251042", "10", "HK-1043"] {
        #expect(try await !visitor.get("/payments?q=\(query)").text.contains("/payments/\(id)"), "\(query)")
      }
    }
    try await bench.visit(as: [Grant(.viewer, of: "other")]) { visitor async throws in
      #expect(try await !visitor.get("/payments?q=hk-104").text.contains("/payments/\(id)"))
    }
  }

  @Test func `waits for a second person behind as many refunds of others as there may be`() async throws {
    let bench = try await OfficeBench()
    try await bench.database.write { store in
      for (id, merchant) in (100..<220).map({ ("\($0)", "other") }) + [("999", "shop")] {
        try store.run(
          """
          INSERT INTO office_approvals (id, payment, merchant, amount, currency, reason, requested_by, requested_at, state)
          VALUES ($1, 'payment', $2, 1, 'EUR', $3, 'bert', $4, 'waiting')
          """, .text(id), .text(merchant), .text("for \(merchant)"), .time(store.now))
      }
    }
    try await bench.visit(as: [Grant(.operator, of: "shop")]) { visitor async throws in
      let text = try await visitor.get("/").text
      #expect(text.contains("for shop") && !text.contains("for other"))
    }
    try await bench.visit(as: [Grant(.viewer, of: "other"), Grant(.operator, of: "shop")]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("for other"))
    }
    try await bench.visit(as: [Grant(.operator)]) { visitor async throws in
      let text = try await visitor.get("/").text
      #expect(text.contains("for shop") && text.contains("More refunds wait"))
      #expect(text.matches(of: /asked for it/).count == 100)
    }
  }
}

@Suite struct `The first page` {
  @Test func `names the routes that are closed since a restore`() async throws {
    let bench = try await OfficeBench()
    try await bench.database.write { store in
      _ = try RestoredStore.begin("backup", lostFrom: store.now, routes: ["card-route"], in: store)
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await visitor.get("/").text.contains("The route card-route is closed since the store was restored"))
    }
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("card-route"))
    }
    try await bench.database.write { store in
      let restore = try #require(try RestoredStore.find(in: store))
      try restore.open("card-route", as: .gapAccepted, in: store)
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("card-route"))
    }
  }

  @Test func `has today's money beside that of the same hours a week before`() async throws {
    let bench = try await OfficeBench()
    try await bench.captured("order-1")
    bench.clock.advance(.seconds(7 * 86_400))
    try await bench.captured("order-2", .eur(500))
    while try await FigureCounting(bench.database).step() != .nothingNew {}
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/").text
      #expect(page.contains(">€5.00</span>") && page.contains("the same hours last week: €12.50"), "\(page)")
      #expect(page.contains("Nothing needs you at the moment"))
      let hours = try await visitor.get("/overview?days=1").text
      #expect(hours.contains(">€5.00</dd>") && hours.contains("the same day last week: €12.50"), "\(hours)")
      #expect(hours.contains("Within what time half") && hours.contains("approved 100%"))
      let file = try await visitor.get("/overview.csv?days=1").text.split(separator: "\r\n")
      #expect(file.count == 25 && file.filter { $0.hasSuffix(",EUR,1,1,0,0,5.00,0.00") }.count == 1, "\(file)")
    }
    try await bench.visit(as: [Grant(.viewer, of: "other")]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("€5.00"))
    }
  }

  @Test func `says to administrators what was changed, and when the server was started`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      _ = try await visitor.post("/merchants/shop/disable", ["reason": "closed for the winter"])
      let page = try await visitor.get("/").text
      #expect(page.contains("Merchant disable: shop") && page.contains("closed for the winter"), "\(page)")
      #expect(page.contains("This server was started"))
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("closed for the winter"))
    }
  }

  @Test func `says when the doctor looked, and has it look again`() async throws {
    let bench = try await OfficeBench()
    bench.doctor.health.withLock {
      $0 = OfficeHealth(
        routes: [],
        findings: [
          .init(
            code: "tls_expiry", subject: "gone.example", meaning: "it has ended", remedy: "Renew it.", isError: true)
        ], checkedAt: Timestamp(rfc3339: "2026-11-21T12:00:00Z"))
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let before = try await visitor.get("/").text
      #expect(before.contains("gone.example") && before.contains("21 Nov 2026") && before.contains("12:00:00 UTC"))
      #expect(try await visitor.post("/check").status == .seeOther)
      let after = try await visitor.get("/").text
      #expect(!after.contains("gone.example") && after.contains("12:05:00 UTC"))
    }
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await !visitor.get("/").text.contains("Check again"))
      #expect(try await visitor.post("/check").status == .forbidden)
    }
  }
}

@Suite struct `A report` {
  @Test func `is compared, and the comparison stays in the history`() async throws {
    let bench = try await OfficeBench()
    try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let report =
        "reference,operation,amount,currency,result,time\nunknown,capture,1250,EUR,approved,2027-01-15T08:00:00Z"
      let page = try await visitor.upload("/reconciliation", ["route": "sandbox"], file: report)
      #expect(page.status == .ok && page.text.contains("missing here") && page.text.contains("unknown"))
      let unread = try await visitor.upload("/reconciliation", ["route": "sandbox"], file: "kind,reference")
      #expect(unread.status == .conflict && unread.text.contains("The report cannot be read: line 1"))
      #expect(try await visitor.get("/reconciliation").text.contains("day.csv"))
      let forged = try await visitor.upload("/reconciliation", ["route": "sandbox"], file: "x", csrf: "forged")
      #expect(forged.status == .forbidden)
      #expect(try await visitor.post("/reconciliation", ["route": "sandbox"]).status == .badRequest)
    }
  }

  @Test func `with many differences has them counted, and the first thousand shown`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      for (count, shown) in [(1_000, 1_000), (1_001, 1_000)] {
        let lines = (1...count).map { "\nline-\($0)-,capture,1250,EUR,approved,2027-01-15T08:00:00Z" }.joined()
        let page = try await visitor.upload(
          "/reconciliation", ["route": "sandbox"], file: "reference,operation,amount,currency,result,time" + lines)
        #expect(page.text.contains("Differences: \(count)."))
        #expect(page.text.matches(of: /line-\d+-/).count == shown)
        #expect(page.text.contains("These are the first 1000") == (count > shown))
      }
    }
  }

  @Test func `is refused while two are compared for the same route, and not for another`() async throws {
    let bench = try await OfficeBench()
    let (asked, ends) = (Counter(), Counter())
    let routes = RouteTable(
      ["one", "two"].map { name in
        var acquirer = FakeAcquirer().acquirer
        acquirer.capabilities.name = name
        acquirer.report = { _, _, _ throws(AcquirerReport.Unavailable) in
          asked.next()
          _ = try? await waitFor("the end", { ends.value }) { $0 > 0 }
          return AcquirerReport(lines: [])
        }
        return ConfiguredRoute(acquirer)
      })
    let reconciliation = Reconciliation(bench.journal, routes: routes)
    let day = Timestamp(seconds: 0)..<Timestamp(seconds: 86_400)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, route) in ["one", "one", "two"].enumerated() {
        group.addTask { _ = try await reconciliation.differences(at: route, day) }
        try await waitFor("a listing", { asked.value }) { $0 == number + 1 }
      }
      let problem = await #expect(throws: Problem.self) { try await reconciliation.differences(at: "one", day) }
      #expect(problem?.status == .tooManyRequests && problem?.code == "too_many_comparisons")
      let refusal = await #expect(throws: OfficeRefusal.self) {
        try await OfficeRefusal.translating { try await reconciliation.differences(at: "one", day) }
      }
      #expect(refusal?.status == .tooManyRequests && refusal?.retryAfter == 10)
      ends.next()
      try await group.waitForAll()
    }
    #expect(try await reconciliation.differences(at: "one", day).isEmpty)
  }
}

@Suite struct `The sequence of a payment` {
  @Test func `shows who asked whom, and goes on where that is wanted`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/sequence")
      #expect(page.text.contains("server to provider: authorize") && page.text.contains("/payments/\(id)"))
      #expect(page.headers[.refreshing] == nil)
      #expect(try await visitor.get("/sequence?live=1").headers[.refreshing] == "2")
    }
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.get("/sequence").status == .forbidden)
    }
  }
}

extension HTTPField.Name {
  fileprivate static let refreshing = HTTPField.Name("Refresh")!
}
