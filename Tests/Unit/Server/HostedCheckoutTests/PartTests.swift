import HostedCheckout
import TenderPayments
import Testing

@Suite struct `An address to return to` {
  @Test(arguments: [
    "https://shop.example", "https://shop.example/done?order=1#top", "http://localhost:8401/stall/return",
    "http://shop.localhost/", "http://127.0.0.1:80/",
  ])
  func `is of https, or of this machine`(_ url: String) { #expect(ReturnURL.isAllowed(url)) }

  @Test(arguments: [
    "", "/relative", "//shop.example", "javascript:alert(1)", "data:text/html,x", "http://shop.example/",
    "https://", "https:///path", "https://shop.example@evil.example/", "https://a\\b.example",
    "https://shop.example/\n",
    "https://shop.example/<script>", "https://shop.example/ x", "HTTPS://shop.example", "https://bücher.example/",
    "http://localhost.evil.example/", "https://a;b/", "https://shop.example/\"onload=",
  ])
  func `is nothing else`(_ url: String) { #expect(!ReturnURL.isAllowed(url)) }

  @Test(
    arguments: [
      ("https://a.example", "https://a.example?m=1&i=2"), ("https://a.example/?x=1", "https://a.example/?x=1&m=1&i=2"),
      ("https://a.example/?", "https://a.example/?m=1&i=2"), ("https://a.example/p#f", "https://a.example/p?m=1&i=2#f"),
    ])
  func `keeps its query and its fragment`(_ url: String, _ longer: String) {
    #expect(ReturnURL.adding([("m", "1"), ("i", "2")], to: url) == longer)
  }
}

@Suite struct `A look of the page` {
  @Test(arguments: [("#ffffff", "#000000", 21.0), ("#777777", "#ffffff", 4.478), ("#0b5a66", "#ffffff", 7.86)])
  func `has the contrast that WCAG computes`(_ one: String, _ other: String, _ ratio: Double) throws {
    let (one, other) = (try #require(Colour(one)), try #require(Colour(other)))
    #expect(abs(one.contrast(with: other) - ratio) < 0.05)
  }

  @Test func `with a colour that is hard to read is refused`() {
    #expect(HostedVariant(accent: Colour("#0b5a66")).fault == nil)
    #expect(HostedVariant(accent: Colour("#8fd3dd")).fault?.hasPrefix("accent #8fd3dd has a contrast of 1.") == true)
    #expect(HostedVariant(accentInDark: Colour("#0b5a66")).fault?.hasPrefix("accentDark #0b5a66") == true)
    #expect(HostedVariant(accentInDark: Colour("#83cfda")).fault == nil)
  }

  @Test(arguments: ["0b5a66", "#0b5a6", "#0b5a667", "#0b5a6g", "red", "#0b5a66;}", ""])
  func `has colours of six digits alone`(_ text: String) { #expect(Colour(text) == nil) }
}
