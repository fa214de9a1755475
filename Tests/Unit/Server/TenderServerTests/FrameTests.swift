import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `The sheet of a merchant` {
  @Test func `is told the merchant's category, and the kit the version of every network`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, system.kitsune, service: "collection")
    let sheet = try await shopper.shop.page.require("GET", "/applepay/basket/\(shopper.basket)")
    #expect(sheet["request"]?["merchantCategoryCode"] == "5814")
    #expect(sheet["networkVersions"]?["visa"] == 1 && sheet["networkVersions"]?["jcb"] == 2)
  }
}
