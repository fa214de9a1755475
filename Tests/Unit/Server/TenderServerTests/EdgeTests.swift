import Crypto
import Foundation
import HTTPTransport
import Logging
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// What browsers and operators see at the edges.
@Suite struct `The server` {
  private let system: TestSystem
  init() async throws { system = try await TestSystem.shared.value }

  private func get(_ path: String, _ headers: [HTTPField] = [], method: String = "GET") async throws -> InboundResponse
  {
    try await system.sender.send(
      OutboundRequest(method: method, url: system.server + path, headers: headers), TestRun.whole)
  }

  @Test func `logs calls with numbers as numbers, and health probes at debug`() async throws {
    for path in ["/healthz", "/readyz", "/applepay/tender.js"] {
      _ = try await JSONClient(system.server, sender: system.sender).call("GET", path)
    }
    let calls = system.log.text.split(separator: "\n").filter { $0.contains(#""message":"call""#) }
    let probes = calls.filter { $0.contains(#""route":"/healthz""#) || $0.contains(#""route":"/readyz""#) }
    let good = probes.filter { $0.contains(#""status":200"#) }
    #expect(!good.isEmpty && good.allSatisfy { $0.contains(#""level":"debug""#) }, "\(probes)")
    #expect(calls.contains { $0.contains(#""level":"info""#) && $0.contains(#""status":200"#) })
  }

  @Test(arguments: ["/", "/healthz", "/applepay/tender.js", "/applepay/sri.json"])
  func `answers HEAD wherever it answers GET, with the same headers and no body`(path: String) async throws {
    let (full, head) = (try await get(path), try await get(path, method: "HEAD"))
    #expect(full.status == 200 && head.status == 200 && head.body.isEmpty && !full.body.isEmpty)
    #expect(head.header("Content-Type") == full.header("Content-Type"))
    #expect(head.header("Content-Length") == "\(full.body.count)")
  }

  @Test(arguments: [
    ("/nothing", 404), ("/applepay/payment", 405), ("/v2/harbour/nothing", 404),
    ("/v2/harbour/services/testconnection", 403), ("/applepay/" + String(repeating: "a", count: 9_000), 414),
  ])
  func `refuses HEAD without a body, so that the next answer on the connection is read as one`(
    path: String, status: Int
  ) async throws {
    let rest = " HTTP/1.1\nHost: localhost\n"
    let calls = "HEAD \(path)\(rest)\nGET /healthz\(rest)Connection: close\n\n"
    let text = try await RawConnection.onThread { [port = system.harbour.port] in
      let connection = try RawConnection(port: port)
      try connection.send(calls)
      return try connection.textUntilTheEnd()
    }
    let heads = text.components(separatedBy: "\r\n\r\n")
    #expect(heads[0].hasPrefix("HTTP/1.1 \(status) "), "\(heads[0])")
    #expect(heads[0].lowercased().contains("content-length: "))
    #expect(heads[1].isEmpty && status == 414 || heads[1].hasPrefix("HTTP/1.1 200 "), "\(heads[1])")
  }

  @Test func `says at its address what it is, and shows nothing of a merchant`() async throws {
    let answer = try await get("/")
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(answer.header("Content-Type") == "text/html; charset=utf-8")
    #expect(text.contains("simulated") && text.contains("/applepay/tender.js") && !text.contains("harbour"))
  }

  @Test func `answers a preflight of a registered origin, exactly and without credentials`() async throws {
    let answer = try await get(
      "/applepay/payment",
      [HTTPField("Origin", system.harbour.origin), HTTPField("Access-Control-Request-Method", "DELETE")],
      method: "OPTIONS")
    #expect(answer.status == 204)
    #expect(answer.header("Access-Control-Allow-Origin") == system.harbour.origin)
    #expect(answer.header("Access-Control-Allow-Methods")?.contains("DELETE") == true)
    #expect(answer.header("Access-Control-Allow-Headers")?.contains("Idempotency-Key") == true)
    #expect(answer.header("Vary") == "Origin" && answer.header("Access-Control-Allow-Credentials") == nil)
  }

  @Test func `lets the page read what it needs, also from a refusal`() async throws {
    let answer = try await get("/applepay/basket/unknown", [HTTPField("Origin", system.harbour.origin)])
    #expect(answer.status == 404 && answer.header("Content-Type") == "application/problem+json")
    #expect(answer.header("Access-Control-Allow-Origin") == system.harbour.origin)
    #expect(answer.header("Access-Control-Expose-Headers") == "ETag, Retry-After, X-Request-Id")
    #expect(answer.header("X-Request-Id")?.isEmpty == false && answer.header("X-Content-Type-Options") == "nosniff")
  }

  @Test func `serves the kit with the hash it publishes, and versions that never change`() async throws {
    let integrity = try JSONReader.read(try await get("/applepay/sri.json").body)
    let version = try #require(integrity["version"]?.text)
    for name in ["tender.js", "tender.css"] {
      let newest = try await get("/applepay/\(name)")
      let pinned = try await get("/applepay/v\(version)/\(name)")
      let hash = "sha384-" + Base64.encode(Array(SHA384.hash(data: Data(pinned.body))))
      #expect(integrity["files"]?[name]?.text == hash && newest.body == pinned.body)
      #expect(pinned.header("Cache-Control")?.contains("immutable") == true)
      let etag = try #require(newest.header("ETag"))
      #expect(try await get("/applepay/\(name)", [HTTPField("If-None-Match", etag)]).status == 304)
    }
    #expect(try await get("/applepay/v000000000000/tender.js").status == 404)
  }

  @Test func `serves every file of Web/kit`() async throws {
    let web = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    let files = try FileManager.default.contentsOfDirectory(atPath: web.appending(path: "Web/kit").path).sorted()
    let integrity = try JSONReader.read(try await get("/applepay/sri.json").body)
    #expect(!files.isEmpty && files.allSatisfy { integrity["files"]?[$0]?.text != nil }, "\(files)")
  }

  @Test func `serves each host its own association file, byte for byte, and other hosts none`() async throws {
    for name in ["apple-developer-merchantid-domain-association", "apple-developer-merchantid-domain-association.txt"] {
      for (host, merchant) in [("harbour.localhost:8401", "harbour"), ("kitsune.localhost:8404", "kitsune")] {
        let answer = try await get("/.well-known/\(name)", [HTTPField("Host", host)])
        let file = "\(system.directory)/merchants/\(merchant)/association/\(host).txt"
        #expect(answer.status == 200 && Data(answer.body) == FileManager.default.contents(atPath: file))
      }
      #expect(try await get("/.well-known/\(name)", [HTTPField("Host", "evil.example")]).status == 404)
    }
  }

  @Test func `is alive, ready, and counts`() async throws {
    #expect(try await get("/healthz").status == 200)
    // On a busy machine the store may need more than the two seconds that a probe waits.
    try await waitUntil("a server that is ready") { try await get("/readyz").status == 200 }
    let text = try await system.metrics()
    for name in ["tender_http_requests_total", "tender_payments_unsettled", "tender_certificate_seconds_left"] {
      #expect(text.contains("# TYPE \(name) "), "\(name)")
    }
    #expect(!text.contains(system.harbour.key.secret))
  }

  @Test func `shows shoppers no metrics`() async throws {
    #expect(try await get("/metrics").status == 404)
  }

  @Test func `serves its metrics on a port of their own, and nothing else there`() async throws {
    let port = try FreePorts.row(of: 1)
    let shop = try await system.secondServer { $0.metricsPort = port }
    try await waitUntil("the port of the metrics") { (try? RawConnection(port: port)) != nil }
    let request = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)/metrics")
    let text = String(decoding: try await shop.sender.send(request, TestRun.whole).body, as: UTF8.self)
    #expect(text.contains("# TYPE tender_http_requests_total counter"))
    for path in ["/healthz", "/payments", "/applepay/metadata"] {
      let other = OutboundRequest(method: "GET", url: "http://127.0.0.1:\(port)\(path)")
      #expect(try await shop.sender.send(other, TestRun.whole).status == 404)
    }
  }

  @Test func `counts what it refuses to pages, and sends refusals with the headers of every answer`() async throws {
    let shopper = try await Shopper.enters(system)
    let refused = try await shopper.shop.page.call(
      "POST", "/applepay/basket/\(shopper.basket)/update", ["shippingMethod": "drone"])
    #expect(refused.body["code"] == "shipping_method_unknown")
    let text = try await system.metrics()
    #expect(text.contains("tender_refusals_total{code=\"shipping_method_unknown\"} 1"))
    #expect(try await get("/nothing/here").header("X-Content-Type-Options") == "nosniff")
  }

  @Test func `says so when another serves from the same store`() async throws {
    let sandbox = system.sandbox.base
    let configuration = ServerConfiguration(
      environment: .simulated, directory: system.directory, host: "127.0.0.1", port: 0, sandboxURL: sandbox,
      acquirer: .init(connector: "sandbox", baseURL: sandbox, apiKey: ""))
    let error = await #expect(throws: ConfigurationError.self) {
      _ = try await TenderServer(configuration, logger: Logger(label: "second"))
    }
    #expect(error?.key == "store.path")
  }

  @Test func `gives the sheet an ETag, and 304 while nothing has changed`() async throws {
    let shopper = try await Shopper.enters(system, service: "collection")
    let origin = HTTPField("Origin", system.harbour.origin)
    let etag = try #require(try await get("/applepay/basket/\(shopper.basket)", [origin]).header("ETag"))
    #expect(
      try await get("/applepay/basket/\(shopper.basket)", [origin, HTTPField("If-None-Match", etag)]).status == 304)
  }

  @Test func `answers a page whether an address is served`() async throws {
    let shopper = try await Shopper.enters(system)
    for (code, country, served) in [
      ("EC1A", "GB", true), ("SW1A", "GB", false), ("10115", "DE", false), ("150-0001", "JP", true),
    ] {
      let answer = try await shopper.shop.page.require(
        "POST", "/applepay/basket/\(shopper.basket)/validatepostalcode",
        ["postalCode": .string(code), "countryCode": .string(country)])
      #expect(answer["deliverable"] == .bool(served), "\(code)")
    }
  }
}

/// After payments have been made, nothing that could make another is anywhere.
@Suite struct `Card data` {
  @Test func `is in no log, no store and no answer, and the search would find it`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let token = try await shopper.token(card: "mastercard-credit")
    let secrets = try Secrets(of: token, system)
    let answer = try await shopper.pays(try await shopper.payment(token))
    #expect(answer.body["status"] == "captured", "\(answer.errorText)")
    _ = try await shopper.pays(try Altered.token(try await shopper.payment(token), "data"))

    let trace = try await shopper.shop.page.require("GET", "/applepay/payment/\(shopper.basket)/trace")
    let answers = try await [answer.body, shopper.outcome().body, trace].map {
      String(decoding: $0.serialized(), as: UTF8.self)
    }
    for text in answers + [system.log.text] { #expect(secrets.found(in: Data(text.utf8)).isEmpty) }
    let files = try Secrets.files(below: system.directory)
    #expect(files.contains { $0.hasSuffix("tender.db-wal") || $0.hasSuffix("tender.db") })
    for file in files { #expect(secrets.found(in: try Data(contentsOf: URL(filePath: file))).isEmpty, "\(file)") }
    #expect(system.log.text.contains("\"message\":\"call\""))
  }

  @Test func `written in any form is found`() async throws {
    let system = try await TestSystem.shared.value
    let shopper = try await Shopper.enters(system, service: "collection")
    let secrets = try Secrets(of: try await shopper.token(), system)
    #expect(secrets.forms.count >= 10)
    for form in secrets.forms {
      let page = Data([0, 255, 13]) + form.bytes + Data("after".utf8)
      #expect(secrets.found(in: page).contains(form.name))
    }
  }
}
