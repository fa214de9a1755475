import Administration
import BackOffice
import HTTPTypes
import Hummingbird
import TenderPayments
import TenderTesting
import Testing

/// The router says which addresses there are; every one is tried.
@Suite struct `Every address of the office` {
  /// With something in the place of each parameter.
  private static func filled(_ path: RouterPath) -> String {
    "/"
      + path.description.split(separator: "/").map { part in
        part.hasPrefix("{") ? ["{merchant}": "shop", "{verb}": "refund"][String(part), default: "x"] : String(part)
      }.joined(separator: "/")
  }

  private static let people: [[Grant]] = [
    [Grant(.viewer, of: "shop")], [Grant(.operator, of: "shop")], [Grant(.administrator, of: "shop")],
    [Grant(.viewer)], [Grant(.operator)], [Grant(.administrator)],
  ]

  @Test func `says who may call it`() async throws {
    let office = try await OfficeBench().office
    let routes = office.router().routes
    #expect(routes.count > 25)
    for route in routes { #expect(office.access(route.method, route.path) != nil, "\(route)") }
  }

  @Test func `answers 403 to a role that it is not for`() async throws {
    let bench = try await OfficeBench()
    let before = try await bench.merchantStates()
    for grants in Self.people {
      try await bench.visit(as: grants) { visitor async throws in
        for route in bench.office.router().routes where route.path.description != "/sign-out" {
          let access = try #require(bench.office.access(route.method, route.path))
          let path = Self.filled(route.path)
          let page = route.method == .get ? try await visitor.get(path) : try await visitor.post(path)
          if Self.mayCall(access, grants) {
            #expect(page.status != .forbidden || path == "/sign-in", "\(grants) \(route)")
          } else {
            #expect(page.status == .forbidden, "\(grants) \(route)")
          }
        }
      }
    }
    #expect(bench.asked.isEmpty)
    #expect(try await bench.merchantStates() == before)
  }

  /// Said anew here, so that a mistake in the office's own rule is found.
  private static func mayCall(_ access: Access, _ grants: [Grant]) -> Bool {
    switch access {
    case .everyone, .signedIn: true
    case .role(let role): grants.contains { $0.role >= role }
    case .everywhere(let role): grants.contains { $0.merchant == nil && $0.role >= role }
    }
  }

  @Test func `shows nothing to who is not signed in`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit { visitor async throws in
      for route in bench.office.router().routes {
        let access = try #require(bench.office.access(route.method, route.path))
        guard access != .everyone else { continue }
        let path = Self.filled(route.path)
        if route.method == .get {
          let page = try await visitor.get(path)
          #expect(page.status == .seeOther && page.headers[.location] == "/sign-in", "\(route)")
        } else {
          #expect(try await visitor.post(path).status == .forbidden, "\(route)")
        }
      }
    }
  }

  @Test func `refuses a form without its session's token, and one from another page`() async throws {
    let bench = try await OfficeBench()
    let strange = try await bench.visit(as: [Grant(.administrator)]) { try await $0.get("/account").csrf }
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      for route in bench.office.router().routes where route.method == .post {
        let path = Self.filled(route.path)
        for token in ["", "forged", strange] {
          let status = try await visitor.post(path, csrf: token).status
          #expect(status == .forbidden, "\(route)")
        }
        for headers: HTTPFields in [[.origin: "https://evil.example"], [.origin: "null"], [.site: "cross-site"]] {
          let status = try await visitor.post(path, headers: headers).status
          #expect(status == .forbidden, "\(route) \(headers)")
        }
      }
      #expect(try await visitor.get("/account").status == .ok)
    }
    #expect(bench.asked.isEmpty)
  }

  @Test func `takes no JSON in the place of a form, whatever role it claims`() async throws {
    let bench = try await OfficeBench()
    let before = try await bench.merchantStates()
    let claimed = ["role": "administrator", "merchants": "", "name": "eve", "reason": "because", "kind": "api-key"]
    for grants in [[Grant(.viewer)], [Grant(.administrator)]] {
      try await bench.visit(as: grants) { visitor async throws in
        for route in bench.office.router().routes where route.method == .post {
          #expect(try await visitor.postJSON(Self.filled(route.path), claimed).status == .forbidden, "\(route)")
        }
      }
    }
    #expect(bench.asked.isEmpty)
    #expect(try await bench.merchantStates() == before)
  }

  private static let files: Set = ["/office.css", "/charts.js", "/passkeys.js"]

  @Test func `has the headers that keep it out of frames, caches and foreign scripts`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.administrator)]) { visitor async throws in
      for route in bench.office.router().routes where route.method == .get {
        let headers = try await visitor.get(Self.filled(route.path)).headers
        let policy = try #require(headers[.contentSecurityPolicy])
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
        #expect(headers[.frames] == "DENY" && headers[.xContentTypeOptions] == "nosniff")
        #expect(headers[.cacheControl] == (Self.files.contains(route.path.description) ? "no-cache" : "no-store"))
      }
    }
  }
}

extension HTTPField.Name {
  static let site = HTTPField.Name("Sec-Fetch-Site")!
  static let frames = HTTPField.Name("X-Frame-Options")!
}
