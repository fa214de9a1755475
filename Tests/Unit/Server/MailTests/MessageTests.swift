import Foundation
import Mail
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

@Suite struct `A message` {
  @Test func `is read by Python's e-mail parser as it was written`() throws {
    let texts = [
      "Grüße aus dem Hafen: 12,50 €", "日本語の件名がとても長いので、いくつかの語に分かれます。ご注文ありがとうございます。",
      "plain", "Subject with =?UTF-8?Q?a_trap?= in it", "trailing space ", "\u{1F371}\u{1F371} bento",
      String(repeating: "a very long subject ", count: 20),
    ]
    for subject in texts {
      let body = "First line: ä=ö\n\n.\nFrom here\n" + String(repeating: "long ", count: 60) + "\nends in a space \n"
      let read = try PythonMail.read(Self.message(subject, "Küche „Hafen“, Inc.", body).bytes)
      #expect(read["subject"] == subject)
      #expect(read["from_name"] == "Küche „Hafen“, Inc.")
      #expect(read["from"] == "orders@shop.example" && read["to"] == "ada@example.com")
      #expect(read["reply_to"] == "help@shop.example" && read["language"] == "de")
      #expect(read["text"] == body && read["html"] == "<p>\(body)</p>")
      #expect(read["types"] == "text/plain text/html" && read["defects"] == "0")
      #expect(read["date"] == "2026-11-21T10:00:00+00:00")
    }
  }

  @Test(arguments: [
    "a\r\nBcc: spy@evil.example", "a\nBcc: spy@evil.example", "a\rBcc: spy@evil.example",
    "a\u{85}Bcc: spy@evil.example", "a\u{2028}Bcc: spy@evil.example", "a\0\r\n\r\n<script>",
  ])
  func `gets no further header by a text in one`(_ attack: String) throws {
    let read = try PythonMail.read(Self.message(attack, attack, "body").bytes)
    #expect(read["headers"] == Self.headers, "\(read)")
    #expect(read["text"] == "body")
  }

  @Test func `has no line of more than 998 bytes and only lines that end in CRLF`() {
    let long = String(repeating: "ü", count: 3_000)
    let bytes = Self.message(long, long, long).bytes
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    #expect(lines.dropLast().allSatisfy { $0.last == 0x0D && $0.count <= 100 })
    #expect(bytes.allSatisfy { $0 < 0x80 })
  }

  @Test(arguments: [
    "ada@example.com", "a.b+c@shop.example", "postmaster@localhost", "x@xn--bcher-kva.example",
  ])
  func `goes to an address`(_ text: String) { #expect(MailAddress(text)?.text == text) }

  @Test(arguments: [
    "", "ada", "ada@", "@example.com", "a b@example.com", "ada@example.com\r\nRCPT TO:<spy@evil.example>", "a@b@c",
    "ada@exa mple.com", "<ada@example.com>", "ä@example.com", "ada@bücher.example", ".a@b.c", "a..b@c.d", "a@-b.c",
    "a@b..c", "ada@example.com>", "ada@example.com,eve@example.com",
  ])
  func `goes to nothing else`(_ text: String) { #expect(MailAddress(text) == nil) }

  static let headers =
    "Date From Reply-To To Subject Message-ID Auto-Submitted Content-Language MIME-Version Content-Type"

  static func message(_ subject: String, _ name: String, _ body: String) -> MailMessage {
    MailMessage(
      id: "0123abcd", from: MailAddress.sample("orders@shop.example"), senderName: name,
      replyTo: MailAddress.sample("help@shop.example"), to: MailAddress.sample("ada@example.com"), subject: subject,
      language: "de", text: body, html: "<p>\(body)</p>",
      date: Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? .init(seconds: 0))
  }
}

@Suite struct `The texts of messages` {
  static func brand(_ language: ShopperLanguage) -> MailBrand {
    MailBrand(name: "Harbour & <Kitchen>", color: "#0b6e4f", locale: language.rawValue)
  }

  /// Every message in a language, with values that are easily recognised.
  static func contents(_ brand: MailBrand) throws -> [MailContent] {
    let now = Timestamp(seconds: 1_800_000_000)
    let euro = Currency.euro
    let amount = Amount(minorUnits: 1_250, currency: euro)
    let warnings = ExpiringThing.Kind.allCases.flatMap { kind in
      [1, 25, 20 * 24].compactMap { hours in
        ExpiryWarning(
          ExpiringThing(
            kind, of: MerchantID("harbour"), named: "harbour", identity: "x", end: now.adding(.seconds(3_600 * hours))),
          at: now)
      }
    }
    return warnings.map { $0.content(brand) } + [
      .alarms([.init("pay-1", "capture_declined")], count: 1, brand),
      .invitation(from: "Ada", link: "https://t.example/i?x=1&y=2", until: now, brand),
      .passwordReset(link: "https://t.example/r", until: now, brand),
      .order("R-1", amount: amount, lines: [("Soup", amount)], url: "https://shop.example/o", brand),
      .refund(of: "R-1", amount: amount, brand), .test(brand),
    ]
  }

  @Test(arguments: ShopperLanguage.allCases) func `leave no placeholder in any language`(
    _ language: ShopperLanguage
  ) throws {
    let brand = Self.brand(language)
    for content in try Self.contents(brand) {
      for text in [content.subject, content.text(brand), content.html(brand)] {
        #expect(!text.contains("{") && !text.contains("}") && !text.isEmpty, "\(text)")
      }
      #expect(!content.subject.isEmpty && !content.paragraphs.contains(""))
    }
  }

  @Test(arguments: ShopperLanguage.allCases.filter { $0 != .english })
  func `are in the language, not in English`(_ language: ShopperLanguage) throws {
    let (own, english) = (try Self.contents(Self.brand(language)), try Self.contents(Self.brand(.english)))
    for (mine, other) in zip(own, english) {
      #expect(mine.subject != other.subject && mine.paragraphs != other.paragraphs)
    }
  }

  @Test func `of an estimate say what is held, and of which line the amount is pending`() throws {
    let (brand, held) = (Self.brand(.german), Amount(minorUnits: 5_000, currency: Currency.euro))
    let text = MailContent.order("R-1", amount: held, isEstimate: true, lines: [("Fahrt", nil)], url: nil, brand)
      .text(brand)
    #expect(text.contains("Fahrt: Betrag noch offen\nAuf Ihrer Karte vorgemerkt: 50,00 EUR"), "\(text)")
  }

  @Test func `are escaped where they become HTML`() throws {
    var content = MailContent.order(
      "<b>1</b>", amount: Amount(minorUnits: 1, currency: Currency.euro),
      lines: [("<script>", Amount(minorUnits: 1, currency: Currency.euro))],
      url: "https://shop.example/\"onclick=\"x", Self.brand(.english))
    content.note = "a\"b'c"
    let html = content.html(Self.brand(.english))
    #expect(!html.contains("<script>") && !html.contains("<b>") && !html.contains("\"onclick"))
    #expect(html.contains("Harbour &amp; &lt;Kitchen&gt;"))
    #expect(!html.contains("Harbour & <Kitchen>"))
  }

  @Test func `are escaped where they become HTML, whatever stands behind a character of it`() throws {
    let hostile = "<\u{301}script>\u{301}\"\u{301}'\u{301}&\u{301}"
    var content = MailContent.order(
      hostile, amount: Amount(minorUnits: 1, currency: Currency.euro),
      lines: [(hostile, Amount(minorUnits: 1, currency: Currency.euro))], url: "https://shop.example/\(hostile)",
      MailBrand(name: hostile, locale: "en"))
    content.note = hostile
    let html = content.html(MailBrand(name: hostile, logoURL: "https://shop.example/\(hostile)", locale: "en"))
    let scalars = Array(html.unicodeScalars)
    for (mark, next) in zip(scalars, scalars.dropFirst()) where next == "\u{301}" { #expect(mark == ";") }
    #expect(scalars.filter { $0 == "\u{301}" }.count > 20)
  }

  @Test func `carry the merchant's name, colour and logo`() throws {
    let brand = MailBrand(name: "Harbour", logoURL: "https://shop.example/logo.png", color: "#0b6e4f", locale: "de-AT")
    let html = MailContent.test(brand).html(brand)
    #expect(html.contains("src=\"https://shop.example/logo.png\"") && html.contains("#0b6e4f"))
    #expect(html.contains("<html lang=\"de\" dir=\"ltr\">") && html.contains("alt=\"Harbour\""))
    #expect(MailContent.test(brand).subject == "Testnachricht")
  }

  @Test func `write amounts as the locale does`() throws {
    let euro = Currency.euro
    let brand = MailBrand(name: "Hafen", locale: "de")
    let text = MailContent.refund(of: "R", amount: Amount(minorUnits: 1_250, currency: euro), brand).text(brand)
    #expect(text.contains("12,50 EUR"))
  }
}

@Suite struct `A warning of an end` {
  private static let now = Timestamp(seconds: 1_800_000_000)

  private static func warning(_ left: Duration) -> ExpiryWarning? {
    ExpiryWarning(
      ExpiringThing(
        .identity, of: MerchantID("harbour"), named: "harbour", identity: "x", end: now.adding(left)), at: now)
  }

  private static let day: Duration = .seconds(86_400)

  @Test(arguments: [
    (60, 60), (59, 60), (31, 60), (30, 30), (20, 30), (14, 14), (8, 14), (7, 7), (3, 3), (2, 3), (1, 1),
  ])
  func `is given at 60, 30, 14, 7, 3 and 1 days`(_ days: Int, _ threshold: Int) {
    #expect(Self.warning(Self.day * days)?.threshold == threshold)
  }

  @Test func `is not given before, nor after the end`() {
    #expect(Self.warning(Self.day * 60 + .seconds(1)) == nil)
    #expect(Self.warning(.zero) == nil && Self.warning(.seconds(-1)) == nil)
    #expect(Self.warning(.seconds(1))?.threshold == 1)
  }

  @Test func `says how much time is left`() throws {
    let brand = MailBrand(name: "Tender")
    let subjects = try [20, 1].map { try #require(Self.warning(Self.day * $0)).content(brand).subject }
    #expect(subjects[0] == "The merchant identity certificate of harbour expires in 20 days")
    #expect(subjects[1].hasSuffix("expires in 1 day"))
  }
}
