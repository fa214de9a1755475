import Acquiring
import Connectors
import HTTPTransport
import TenderPayments
import TenderTesting
import Testing
import TokenIssuer

/// Connectors of shadow mode: what they would send is built and shown, and cannot leave.
@Suite struct `The transport of shadow mode` {
  @Test func `sends nothing, whatever it is asked`() async throws {
    let request = OutboundRequest(method: "POST", url: "http://localhost:1/v72/payments", body: [1])
    await #expect(throws: TransportError.notSent("shadow mode sends nothing")) {
      _ = try await ShadowTransport().sender.send(request, .seconds(1))
    }
    // It has nothing that could.
    let members = Mirror(reflecting: ShadowTransport()).children.compactMap(\.label)
    #expect(members == ["built"])
  }

  @Test(arguments: ConnectorCatalogue.allCases)
  func `lets each connector build an authorization, shown without the card`(connector: ConnectorCatalogue) async throws
  {
    let transport = ShadowTransport()
    let acquirer = try connector.sample(http: transport.sender, log: transport.log)
    let card = try #require(SandboxCards.card(id: "visa-debit"))
    let token = NetworkToken(
      dpan: card.dpan, expiry: try #require(CardExpiry(applePayDate: card.expirationDate)),
      cryptogram: Cryptogram(base64: "AgAAAAAABk4DWZ4C28yUQAAAAAA="), eci: "7")
    let answer = await acquirer.authorize(
      AuthorizationRequest(
        reference: AttemptReference(RandomBytes.system.hex(16)), merchantReference: "order", amount: .eur(1250),
        instrument: .network(token)), .after(TestRun.whole))
    guard case .notSent = answer else {
      Issue.record("\(answer)")
      return
    }
    let built = transport.requests.joined(separator: "\n")
    #expect(built.contains("1250") || built.contains("12.50"), "\(built)")
    #expect(!built.contains(card.dpan.revealed) && !built.contains("AgAAAAAABk4DWZ4C28yUQAAAAAA"))
  }
}
