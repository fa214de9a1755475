import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// The browser gives the payment sheet the address of the page in the address bar, whichever frame opens it (WebKit bug
/// 259667), so Apple's merchant session has to be for that page's domain.
@Suite struct `A page in a frame` {
  private static let own = "http://harbour.localhost:8401"
  private static let www = "http://www.harbour.localhost:8401"

  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  private func validates(_ shopper: Shopper, below top: String?) async throws -> JSONClient.Answer {
    try await shopper.shop.page.call("POST", "/applepay/validate", call(shopper.basket, top))
  }

  private func call(_ basket: String, _ top: String?) -> JSONValue {
    var call: JSONObject = ["basketId": .string(basket)]
    call["topOrigin"] = top.map(JSONValue.string)
    return .object(call)
  }

  private func metadata(_ page: JSONClient, below top: String) async throws -> JSONClient.Answer {
    try await page.call(
      "GET", "/applepay/metadata?topOrigin=\(top.replacing(":", with: "%3A").replacing("/", with: "%2F"))")
  }

  @Test func `gets its session for the site in the address bar, which is another of its merchant's`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    for (top, domain) in [
      (nil, "harbour.localhost"), (Self.own, "harbour.localhost"), (Self.www, "www.harbour.localhost"),
    ] {
      let answer = try await validates(shopper, below: top)
      #expect(
        answer.status == 200 && answer.body["domainName"]?.text == domain, "\(top ?? "no frame"): \(answer.errorText)")
    }
    let offered = try await metadata(shopper.shop.page, below: Self.www)
    #expect(offered.status == 200 && offered.body["enabled"] == true)
  }

  @Test(arguments: [
    ("http://kitsune.localhost:8404", "top_origin_not_registered"),
    ("https://evil.example", "top_origin_not_registered"),
    ("http://harbour.localhost", "top_origin_not_registered"),
    ("HTTP://harbour.localhost:8401", "top_origin_not_registered"),
    ("", "top_origin_not_registered"), ("null", "top_origin_unknown"),
  ])
  func `is refused by name when the page around it is no site of its merchant, with its session and with the button`(
    top: String, code: String
  ) async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    for answer in [
      try await validates(shopper, below: top), try await metadata(shopper.shop.page, below: top),
    ] {
      #expect(answer.status == 403 && answer.body["code"]?.text == code, "\(answer.errorText)")
    }
  }

  @Test func `of the platform gets its session for the shop that may frame it, and is refused in every other`()
    async throws
  {
    let shopper = try await HostedShopper.enters(system, "harbour")
    let session = try await shopper.api.require("POST", "/applepay/validate", call(shopper.id, Self.own))
    #expect(session["domainName"] == "harbour.localhost")
    #expect(try await metadata(shopper.api, below: Self.own).body["enabled"] == true)
    #expect(try await shopper.load().text.contains(" top-origin=\"\(Self.own)\"></tender-apple-pay>"))
    // The first is the merchant's and not allowed to frame the page; the second is another merchant's.
    for top in [Self.www, "http://kitsune.localhost:8404"] {
      let refused = try await shopper.api.call("POST", "/applepay/validate", call(shopper.id, top))
      #expect(refused.status == 403 && refused.body["code"] == "top_origin_not_registered")
      #expect(try await metadata(shopper.api, below: top).body["code"] == "top_origin_not_registered")
    }
  }

  @Test func `of the platform is refused in a shop that Apple does not know as the merchant's`() async throws {
    let shopper = try await HostedShopper.enters(system, "bazaar")
    let refused = try await shopper.api.call("POST", "/applepay/validate", call(shopper.id, "https://shop.example"))
    #expect(refused.status == 403 && refused.body["code"] == "top_origin_not_registered")
    let alone = try await shopper.api.require("POST", "/applepay/validate", call(shopper.id, nil))
    #expect(alone["domainName"] == "pay.localhost")
  }
}

@Suite struct `The sheet of a merchant` {
  @Test func `is told the merchant's category, and the kit the version of every network`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, system.kitsune, service: "collection")
    let sheet = try await shopper.shop.page.require("GET", "/applepay/basket/\(shopper.basket)")
    #expect(sheet["request"]?["merchantCategoryCode"] == "5814")
    #expect(sheet["networkVersions"]?["visa"] == 1 && sheet["networkVersions"]?["jcb"] == 2)
  }
}
