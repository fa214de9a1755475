import HTTPTransport
import Testing

@Suite struct `A live client` {
  @Test(arguments: ["http://127.0.0.1:1/", "", "nonsense", "ftp://127.0.0.1/", "http://"])
  func `says that nothing was sent when nobody listens or the address is none`(url: String) async throws {
    let client = try LiveHTTPClient()
    let error = await #expect(throws: TransportError.self) {
      try await client.sender.send(OutboundRequest(method: "POST", url: url, body: [1]), .seconds(2))
    }
    if case .notSent = error {} else { Issue.record("\(String(describing: error))") }
    try await client.shutdown()
  }
}
