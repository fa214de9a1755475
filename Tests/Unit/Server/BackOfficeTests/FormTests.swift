import Administration
import BackOffice
import Gateway
import HTTPTypes
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A form that is refused` {
  /// What a person may have typed into each field.
  private static let typed = "typed <\"it\">"

  @Test func `is shown again on its page, with what was typed and the reason, wherever it is`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.user("anna", [Grant(.viewer)])
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      var seen: Set<String> = []
      for path in [
        "/payments/\(id)", "/payments?status=captured", "/merchants", "/merchants/shop", "/users", "/webhooks",
        "/reconciliation",
      ] {
        for form in Self.forms(in: try await visitor.get(path).text) {
          for address in form.addresses where seen.insert(address).inserted {
            let page = try await visitor.post(address, form.fields.filter { $0.key != "reason" && $0.key != "name" })
            #expect(page.status == .badRequest, "\(address)")
            #expect(page.text.contains("class=\"error\" role=\"alert\""), "\(address)")
            let action = form.addresses[0].replacing("&", with: "&amp;")
            #expect(page.text.contains("action=\"\(action)\""), "\(address)")
            let isTyped = form.fields.contains { $0.value == Self.typed && !["reason", "name"].contains($0.key) }
            #expect(!isTyped || page.text.contains("typed &lt;&quot;it&quot;&gt;"), "\(address)")
          }
        }
      }
      for address in [
        "/payments/\(id)/refund", "/merchants/import", "/merchants/shop/add-domain", "/users/anna/invite",
      ] {
        #expect(seen.contains(address), "\(address)")
      }
    }
  }

  private struct Form {
    var addresses: [String] = []
    var fields: [String: String] = [:]
  }

  /// The forms that a person fills in.
  private static func forms(in html: String) -> [Form] {
    html.matches(of: /<form method="post" action="([^"]+)"[^>]*>(.*?)<\/form>/.dotMatchesNewlines()).compactMap {
      match in
      var form = Form(addresses: [String(match.output.1).replacing("&amp;", with: "&")])
      form.addresses += match.output.2.matches(of: /formaction="([^"]+)"/).map { String($0.output.1) }
      for input in match.output.2.matches(of: /<(input|textarea|select)[^>]* name="([^"]+)"[^>]*>/)
      where !input.output.0.contains("one-time-code") && !input.output.0.contains("type=\"file\"") {
        let value = input.output.0.firstMatch(of: /type="hidden" name="[^"]*" value="([^"]*)"/)
        form.fields[String(input.output.2)] = value.map { String($0.output.1) } ?? Self.typed
      }
      form.fields["csrf"] = nil
      for option in match.output.2.matches(
        of: /<select[^>]* name="([^"]+)".*?<option[^>]*>([^<]*)</.dotMatchesNewlines())
      {
        form.fields[String(option.output.1)] = String(option.output.2)
      }
      return form.fields.values.contains(Self.typed) ? form : nil
    }
  }

  @Test func `has the reason at its field, which has the focus`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let fields = ["name": "bert", "role": "operator", "merchants": "shop", "limits": "50", "reason": "new here"]
      let page = try await visitor.post("/users", fields)
      #expect(page.status == .badRequest)
      let field = try #require(page.text.firstMatch(of: /<input id="limits"[^>]*><span[^>]*>([^<]*)<\/span>/))
      for attribute in ["value=\"50\"", "aria-invalid=\"true\"", "aria-describedby=\"refused\"", "autofocus"] {
        #expect(field.output.0.contains(attribute), "\(attribute)")
      }
      #expect(field.output.1.hasPrefix("“50”: write the currency too, as in 12.50 EUR. Refund limits are"))
      #expect(page.text.contains("<option selected=\"\">operator") && page.text.contains("value=\"new here\""))
    }
  }

  @Test func `in a table is that of its row, and a closed part of the page opens`() async throws {
    let bench = try await OfficeBench()
    for name in ["anna", "bert"] { try await bench.user(name, [Grant(.viewer)]) }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let page = try await visitor.post("/users/bert/change", ["role": "operator", "merchants": "pier"])
      let cards = page.text.split(separator: "<section").filter { $0.contains("/change\"") }
      #expect(cards.filter { $0.contains("id=\"refused\"") }.count == 1)
      let card = try #require(cards.first { $0.contains("/users/bert/change") })
      #expect(
        card.contains("<details open=\"\">") && card.contains("value=\"pier\"") && card.contains("id=\"refused\""))
    }
  }

  private struct LostAnswer: Error {}

  @Test func `keeps its key, so that what may have been done is not done twice`() async throws {
    let isLost = Mutex(false)
    let bench = try await OfficeBench(
      crashes: CrashPoints { point in
        guard point == .refundRecorded else { return }
        let wasLost = isLost.withLock { lost in
          defer { lost = true }
          return lost
        }
        if !wasLost { throw LostAnswer() }
      })
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.operator)], limits: "100.00 EUR") { visitor async throws in
      let key = try await visitor.get("/payments/\(id)").value(of: "key")
      let fields = ["key": key, "amount": "5.00", "reason": "broken"]
      let lost = try await visitor.post("/payments/\(id)/refund", fields)
      #expect(lost.status == .internalServerError && lost.text.contains("value=\"5.00\""))
      #expect(lost.value(of: "key") == key)
      let again = try await visitor.post(
        "/payments/\(id)/refund", fields.merging(["key": lost.value(of: "key")]) { $1 })
      #expect(again.status == .seeOther && bench.asked.count == 1)
      #expect(try await visitor.get("/payments/\(id)").value(of: "key") != key)
    }
  }

  @Test func `says what was typed as it was typed`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let page = try await visitor.post("/merchants/shop/check-domain", ["domain": "apples", "reason": "new"])
      #expect(page.status == .conflict && page.text.contains(">shop has no domain apples.<"), "\(page.text)")
    }
  }

  @Test func `shows no password and no code again`() async throws {
    let bench = try await OfficeBench()
    let answer = try await bench.office.users().perform(
      .add(name: "anna", grants: [Grant(.viewer)], refundLimits: ""))
    let path = try #require(answer.invitation)
    try await bench.visit { visitor async throws in
      let secret = "correct horse battery"
      let page = try await visitor.post(path, ["password": secret, "code": "000017"])
      #expect(page.status == .badRequest && page.text.contains("This code is not the one of the app"))
      #expect(!page.text.contains(secret) && !page.text.contains("000017"))
      #expect(page.text.firstMatch(of: /<input id="code"[^>]*aria-invalid/) != nil)
    }
  }

  @Test(arguments: [
    ("/payments?amount=12.50", "amount", "“12.50”: write the currency too, as in 12.50 EUR"),
    ("/payments?from=yesterday", "from", "Write the day as 2026-11-23"),
    ("/reconciliation?route=sandbox&from=2027-01-01&until=2027-03-01", "until", "Compare at most 31 days"),
  ])
  func `of a search keeps the search`(_ path: String, _ field: String, _ reason: String) async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      let page = try await visitor.get(path)
      let input = try #require(page.text.firstMatch(of: try Regex("<input id=\"\(field)\"[^>]*>(<span[^>]*>[^<]*)?")))
      #expect(page.text[input.range].contains(reason) && page.text[input.range].contains("aria-invalid"))
    }
  }
}
