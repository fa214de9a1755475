import Foundation
import PassKit
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

@Suite struct `The device` {
  let world: World

  init() throws { world = try World.running() }

  @Test func `with a card it buys, without one it sets up, and without Apple Pay it shows nothing`() async {
    var abilities = SandboxWallet.Abilities()
    #expect(await availability(abilities) == .buy)
    abilities.networks = [.discover]
    #expect(await availability(abilities) == .setUp)
    abilities.hasLibrary = false
    #expect(await availability(abilities) == .hidden)
    abilities.canMakePayments = false
    #expect(await availability(abilities) == .hidden)
  }

  private func availability(_ abilities: SandboxWallet.Abilities) async -> ApplePayAvailability.Button {
    let app = App(world, abilities: abilities)
    return await SandboxWallet.$current.withValue(app.wallet) { await app.flow.availability().button }
  }

  @Test func `set-up opens Wallet`() async {
    let app = App(world)
    await SandboxWallet.$current.withValue(app.wallet) { await app.flow.openWallet() }
    #expect(app.wallet.setUps == 1)
  }

  @Test func `that refuses the sheet sends the shopper to the standard checkout`() async {
    var abilities = SandboxWallet.Abilities()
    abilities.showsSheets = false
    let app = App(world, abilities: abilities, service: .collection)
    let outcome = await SandboxWallet.$current.withValue(app.wallet) {
      await app.flow.pay(OrderDetails(service: .collection))
    }
    guard case .standardCheckout(.failure(let failure)) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(failure.code == "sheet_not_opened")
  }

  @Test func `of a Mac asks for the merchant session, and pays`() async throws {
    let app = App(world, service: .collection)
    let outcome = try await app.checkout(OrderDetails(service: .collection)) { sheet in
      let members = try #require(await sheet.requestMerchantSession())
      #expect(members.contains("merchantSessionIdentifier"))
      try await sheet.authorize(card: "visa-debit", contact: "gb-london")
    }
    try await app.agrees(outcome, paid: 1290)
  }

  #if DEBUG
    @Test func `of the Simulator gives an empty payment token, and the sandbox a real one`() async throws {
      var abilities = SandboxWallet.Abilities()
      abilities.isSimulator = true
      let app = App(world, abilities: abilities, service: .collection)
      let refused = try await app.checkout(OrderDetails(service: .collection)) { sheet in
        try await sheet.authorize(card: "visa-debit", contact: "gb-london")
      }
      guard case .standardCheckout(.failure(let failure)) = refused else {
        Issue.record("\(refused)")
        return
      }
      #expect(failure.code == "empty_payment_data")

      let simulated = App(world, abilities: abilities, service: .collection)
      await simulated.service.use(
        SimulatedPayments(sandbox: world.sandbox, merchantIdentifier: World.merchant.merchantIdentifier))
      let outcome = try await simulated.checkout(OrderDetails(service: .collection)) { sheet in
        try await sheet.authorize(card: "visa-debit", contact: "gb-london")
      }
      try await simulated.agrees(outcome, paid: 1290)
    }
  #endif
}
