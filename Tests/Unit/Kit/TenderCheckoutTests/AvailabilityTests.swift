import TenderCheckout
import TenderPayments
import TenderSheet
import Testing

@Suite struct `Which button is shown` {
  private func answer(
    _ device: PaymentDevice, networks: [CardNetwork] = [.visa, .masterCard], cards: AcceptedCards = .creditAndDebit
  ) -> ApplePayAvailability {
    let merchant = MerchantConfiguration(
      merchantIdentifier: "merchant.com.example", networks: networks, cards: cards, supportedCountries: ["IE"])
    return ApplePayAvailability(of: merchant, on: device)
  }

  @Test(arguments: [
    (PaymentDevice.phone(), ApplePayAvailability.Button.buy, ApplePayAvailability.Reason.cardReady),
    (.phone(networks: []), .setUp, .noCard),
    (.phone(networks: [.discover]), .setUp, .otherNetworksOnly),
    (.phone(canPay: false), .hidden, .deviceUnable),
    (.phone(networks: [], hasWallet: false), .hidden, .noWallet),
  ])
  func `depends on the device`(
    _ device: PaymentDevice, _ button: ApplePayAvailability.Button, _ reason: ApplePayAvailability.Reason
  ) {
    let answer = answer(device)
    #expect(answer.button == button)
    #expect(answer.reason == reason)
  }

  @Test func `depends on what the merchant accepts`() {
    #expect(answer(.phone(kinds: [.supportsDebit]), cards: .creditOnly).reason == .otherKindOnly)
    #expect(answer(.phone(kinds: [.supportsCredit]), cards: .debitOnly).reason == .otherKindOnly)
    #expect(answer(.phone(kinds: [.supportsDebit]), cards: .debitOnly).button == .buy)
    #expect(answer(.phone(kinds: [.supportsCredit]), cards: .creditOnly).button == .buy)
    #expect(answer(.phone(), networks: []).reason == .nothingAccepted)
  }

  @Test func `depends on the networks that the platform knows`() {
    let old = PaymentDevice.phone(.iOS(PlatformVersion(16)), networks: [.bankAxept])
    #expect(answer(old, networks: [.bankAxept]).reason == .networksUnknownHere)
    let new = PaymentDevice.phone(.iOS(PlatformVersion(17, 5)), networks: [.bankAxept])
    #expect(answer(new, networks: [.bankAxept]).button == .buy)
    #expect(answer(old, networks: [.visa, .bankAxept]).networks == [.visa])
  }

  @Test func `counts a Mac's versions as the phone's with the same PassKit`() {
    #expect(Platform.macOS(PlatformVersion(13, 3)).passKit == PlatformVersion(16, 3))
    #expect(Platform.macOS(PlatformVersion(15)).passKit == PlatformVersion(18))
    #expect(Platform.macOS(PlatformVersion(26, 1)).passKit == PlatformVersion(26, 1))
    #expect(CardNetwork.dankort.isKnown(on: .phone(.iOS(PlatformVersion(15, 1)))))
    #expect(!CardNetwork.dankort.isKnown(on: .phone(.iOS(PlatformVersion(15)))))
  }

  @Test func `is never without a reason in words, and every network has its release`() {
    for reason in ApplePayAvailability.Reason.allCases { #expect(reason.explanation.hasSuffix(".")) }
    for network in CardNetwork.known { #expect(network.introduced.map { $0 <= PlatformVersion(17, 5) } == true) }
  }

  @Test func `asks a device for a network that is newer than this release only if the device knows it`() throws {
    let new = try #require(CardNetwork(rawValue: "neuCard"))
    let offers: [CardNetwork] = [.visa, new]
    #expect(answer(.phone(), networks: offers).networks == [.visa])
    let device = PaymentDevice.phone(available: [try #require(CardNetwork(rawValue: "NeuCard"))])
    #expect(answer(device, networks: offers).networks == offers)
    #expect(new.appleName == "neuCard" && new.introduced == nil)
  }
}

@Suite struct `The preselected payment method` {
  let ready = ApplePayAvailability(of: Sample.merchant, on: .phone())
  let empty = ApplePayAvailability(of: Sample.merchant, on: .phone(networks: []))

  @Test func `is Apple Pay for the first purchase`() {
    #expect(DefaultPaymentMethod(ready, lastUsed: nil, others: ["card"]) == .applePay)
  }

  @Test func `is the last used one, while it is available`() {
    #expect(DefaultPaymentMethod(ready, lastUsed: .other("card"), others: ["card"]) == .other("card"))
    #expect(DefaultPaymentMethod(ready, lastUsed: .other("gone"), others: ["card"]) == .applePay)
    #expect(DefaultPaymentMethod(ready, lastUsed: .applePay, others: ["card"]) == .applePay)
  }

  @Test func `is never Apple Pay without a card`() {
    #expect(DefaultPaymentMethod(empty, lastUsed: .applePay, others: ["card"]) == .other("card"))
    #expect(DefaultPaymentMethod(empty, lastUsed: nil) == .none)
  }
}
