import DirectWire
import Foundation
import TenderPayments
import Testing

private typealias Header = (name: String, value: String)

/// A request with the signature that an official SDK computed for it.
struct Vector: Sendable {
  let keyID: String
  let secret: String
  let method: String
  let contentType: String
  let date: String
  let gcsHeaders: [[String]]
  let target: String
  let signature: String

  var headers: [(name: String, value: String)] { gcsHeaders.map { ($0[0], $0[1]) } }

  private static let key = "5e45c937b9db33ae"
  private static let secret = "I42Zf4pVnRdroHfuHnRiJjJ2B6+22h0yQt/s3nZR8Xg="
  private static let date = "Fri, 06 Jun 2014 13:39:43 GMT"

  static let all = [
    Vector(
      keyID: key, secret: secret, method: "GET", contentType: "", date: date, gcsHeaders: [],
      target: "/v2/1234/services/testconnection", signature: "/CUz1RDrkhYvXz2SahD3IspvyL2OGp3aVImjjwETXgQ="),
    Vector(
      keyID: key, secret: secret, method: "POST", contentType: "application/json", date: date,
      gcsHeaders: [["X-GCS-ServerMetaInfo", "eyJhIjoiYiJ9"], ["X-GCS-Idempotence-Key", "e6ba9f4e-0001"]],
      target: "/v2/1234/payments", signature: "6IMMVcGXoqsbQMV8xO/hVwATOu3dXn3zJvp4jcVr4yA="),
    Vector(
      keyID: key, secret: secret, method: "GET", contentType: "", date: date,
      gcsHeaders: [
        ["X-GCS-ServerMetaInfo", "eyJhIjoiYiJ9"], ["X-GCS-ClientMetaInfo", "processed header value"],
      ],
      target: "/v2/1234/products/302?countryCode=BE&currencyCode=EUR&hide=fields",
      signature: "mbLsdF3nq+7oVlGLmNuODUEb4uSvt0KKNG7cda3Uqig="),
    Vector(
      keyID: key, secret: secret, method: "DELETE", contentType: "", date: date,
      gcsHeaders: [
        ["X-GCS-ServerMetaInfo", "processed header value"],
        ["X-GCS-ClientMetaInfo", "processed\r\n   header value  "], ["X-GCS-CustomerHeader", "x"],
      ],
      target: "/v2/1234/tokens/123%20456", signature: "fTqTGyZfxtAzyztkZ6j5zLHa2JtqRTrCKU6S2/327m4="),
    Vector(
      keyID: "EC36A74A98D21", secret: "6Kj5HT0MQKC6D8eb7W3lTg71kVKVDSt1", method: "GET", contentType: "",
      date: date, gcsHeaders: [], target: "/v2/1/tokens/2",
      signature: "vCos01y77soPNJOW6kDCm4Bu5b2darAZ09PP7Wa+jRA="),
    Vector(
      keyID: "apiKeyId", secret: "secretApiKey", method: "DELETE", contentType: "",
      date: "Wed, 01 Jan 2020 11:00:00 GMT",
      gcsHeaders: [
        ["X-GCS-ClientMetaInfo", "processed header value"], ["X-GCS-CustomerHeader", "processed header value"],
        ["X-GCS-ServerMetaInfo", "processed header value"],
      ],
      target: "/v2/1/tokens", signature: "zcDsJLRYsh99pqyCFdrVLyLVi+4A+QLis14rEtV8c98="),
  ]
}

@Suite struct `Signing a request` {
  @Test func `gives the string and the value that the page for back ends shows`() throws {
    let page = try String(contentsOf: Self.page, encoding: .utf8)
    let headers = RequestSigner(apiKeyId: "k1", secret: "a-secret-of-your-own").headers(
      method: "PUT", contentType: "application/json",
      pathAndQuery: "/v2/harbour/baskets/0f1e2d3c4b5a69788796a5b4c3d2e1f0", body: Array(#"{"note":"ring twice"}"#.utf8),
      at: try #require(Timestamp(rfc3339: "2026-11-23T10:00:00Z")))
    #expect(headers.count == 3)
    for (_, value) in headers { #expect(page.contains(value), "\(value)") }
  }

  /// `docs/back-end.md`, from this file.
  private static let page = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    .appending(path: "docs/back-end.md")

  @Test(arguments: Vector.all) func `gives what the official SDK gives`(_ vector: Vector) {
    let value = RequestSigner(apiKeyId: vector.keyID, secret: vector.secret).authorization(
      method: vector.method, contentType: vector.contentType, date: vector.date, gcsHeaders: vector.headers,
      pathAndQuery: vector.target)
    #expect(value == "GCS v1HMAC:\(vector.keyID):\(vector.signature)")
  }

  @Test(arguments: Vector.all) func `is verified by the authenticator`(_ vector: Vector) throws {
    var headers: [Header] = vector.headers
    headers.append(("Authorization", "GCS v1HMAC:\(vector.keyID):\(vector.signature)"))
    headers.append(("Date", vector.date))
    if vector.contentType != "" { headers.append(("Content-Type", vector.contentType)) }
    let request = try SignedRequest(method: vector.method, target: vector.target, headers: headers)
    let now = try #require(HTTPDate.parse(vector.date))
    #expect(try RequestAuthenticator().authenticate(request, secret: vector.secret, at: now).apiKeyID == vector.keyID)
  }
}

/// How one SDK signs the same GET, where they differ.
struct SDK: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The content type header that is sent, and the one that is signed.
  let sends: String?
  let signs: String
  /// The target that is signed for `/v2/1/products/3%202?locale=nl%5FNL`.
  let target: String

  static let sent = "/v2/1/products/3%202?locale=nl%5FNL"
  static let all = [
    SDK(testDescription: "Python, PHP", sends: nil, signs: "", target: sent),
    SDK(testDescription: "Java, .NET", sends: nil, signs: "", target: "/v2/1/products/3 2?locale=nl_NL"),
    SDK(testDescription: "Node", sends: "application/json", signs: "", target: sent),
    SDK(testDescription: "ActiveMerchant", sends: "application/json", signs: "application/json", target: sent),
    SDK(testDescription: "decoded query only", sends: nil, signs: "", target: "/v2/1/products/3%202?locale=nl_NL"),
  ]
}

@Suite struct `Authenticating a signed request` {
  private let signer = RequestSigner(apiKeyId: "key", secret: "secret")
  private let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? Timestamp(seconds: 0)

  private func headers(
    method: String = "GET", signing contentType: String = "", _ target: String, date: String? = nil,
    sending sent: String? = nil, gcs: [Header] = []
  ) -> [Header] {
    let date = date ?? HTTPDate.text(now)
    let value = signer.authorization(
      method: method, contentType: contentType, date: date, gcsHeaders: gcs, pathAndQuery: target)
    return [("authorization", value), ("date", date)] + (sent.map { [("content-type", $0)] } ?? []) + gcs
  }

  private func authenticate(
    _ headers: [Header], method: String = "GET", _ target: String, secret: String? = "secret", at now: Timestamp? = nil
  ) throws(SignatureRefusal) -> AuthenticatedCaller {
    let request = try SignedRequest(method: method, target: target, headers: headers)
    return try RequestAuthenticator().authenticate(request, secret: secret, at: now ?? self.now)
  }

  @Test(arguments: SDK.all) func `accepts what each SDK signs`(_ sdk: SDK) throws {
    let headers = headers(signing: sdk.signs, sdk.target, sending: sdk.sends)
    #expect(try authenticate(headers, SDK.sent).apiKeyID == "key")
  }

  @Test func `takes X-GCS-Date for the date of a client that cannot set it`() throws {
    let stamp = ("X-GCS-Date", HTTPDate.text(now))
    let value = signer.authorization(
      method: "GET", contentType: "", date: "", gcsHeaders: [stamp], pathAndQuery: "/v2/1/x")
    #expect(try authenticate([("Authorization", value), stamp], "/v2/1/x").apiKeyID == "key")
  }

  @Test func `believes nothing that was changed on the way`() throws {
    let signed = headers(
      method: "POST", signing: "application/json", "/v2/1/payments", sending: "application/json",
      gcs: [("X-GCS-Idempotence-Key", "a")])
    #expect(try authenticate(signed, method: "POST", "/v2/1/payments").apiKeyID == "key")
    for (method, target) in [("PUT", "/v2/1/payments"), ("POST", "/v2/2/payments"), ("POST", "/v2/1/payments?a=b")] {
      #expect(throws: SignatureRefusal.signatureMismatch) { try authenticate(signed, method: method, target) }
    }
    let otherKey = signed.filter { $0.name != "X-GCS-Idempotence-Key" } + [("X-GCS-Idempotence-Key", "b")]
    #expect(throws: SignatureRefusal.signatureMismatch) { try authenticate(otherKey, method: "POST", "/v2/1/payments") }
    #expect(throws: SignatureRefusal.signatureMismatch) {
      try authenticate(signed, method: "POST", "/v2/1/payments", secret: "Secret")
    }
    #expect(throws: SignatureRefusal.keyUnknown) {
      try authenticate(signed, method: "POST", "/v2/1/payments", secret: nil)
    }
  }

  @Test func `does not take an encoded separator for a separator`() {
    let signed = headers("/v2/1/payments/9")
    for target in ["/v2/1/payments%2F9", "/v2/1%2fpayments/9"] {
      #expect(throws: SignatureRefusal.signatureMismatch) { try authenticate(signed, target) }
    }
    // U+0301 after the decoded separator makes one `Character` of both.
    let marked = headers("/v2/1/payments/\u{301}9")
    for target in ["/v2/1/payments%2F%CC%819", "/v2/1%2F%CC%81payments/\u{301}9"] {
      #expect(throws: SignatureRefusal.signatureMismatch) { try authenticate(marked, target) }
    }
    let folded = headers("/v2/1/x?a=b\nc")
    #expect(throws: SignatureRefusal.signatureMismatch) { try authenticate(folded, "/v2/1/x?a=b%0Ac") }
  }

  @Test(arguments: [
    (-301, false), (-300, true), (0, true), (300, true), (301, false),
  ]) func `allows clocks five minutes apart`(_ seconds: Int, _ isAllowed: Bool) {
    let later = now.adding(.seconds(seconds))
    let signed = headers("/v2/1/x")
    if isAllowed {
      #expect(throws: Never.self) { try authenticate(signed, "/v2/1/x", at: later) }
    } else {
      #expect(throws: SignatureRefusal.dateOutOfWindow) { try authenticate(signed, "/v2/1/x", at: later) }
    }
  }

  @Test func `names what is missing or malformed`() {
    let date = HTTPDate.text(now)
    let good = "GCS v1HMAC:key:\(Base64.encode([UInt8](repeating: 7, count: 32)))"
    let rows: [([Header], SignatureRefusal)] = [
      ([("date", date)], .authorizationMissing),
      ([("authorization", "Bearer x"), ("date", date)], .authorizationMalformed),
      ([("authorization", "GCS v1HMAC::\(good)"), ("date", date)], .authorizationMalformed),
      ([("authorization", "GCS v1HMAC:key:AAAA"), ("date", date)], .authorizationMalformed),
      ([("authorization", good)], .dateMissing),
      ([("authorization", good), ("date", "2026-11-21T10:00:00Z")], .dateMalformed),
      ([("authorization", good), ("date", "Fri, 9223372036854775807 Jun 2014 13:39:43 GMT")], .dateMalformed),
      ([("authorization", good), ("date", "Fri, 06 Jun 2014 9223372036854775807:39:43 GMT")], .dateMalformed),
      ([("authorization", good), ("date", date), ("x-gcs-a", "1"), ("X-GCS-A", "2")], .headerRepeated),
    ]
    for (headers, refusal) in rows {
      #expect(throws: refusal) { try authenticate(headers, "/v2/1/x") }
    }
  }
}

@Suite struct `The digest of a body` {
  private let now = Timestamp(rfc3339: "2026-11-21T10:00:00Z") ?? Timestamp(seconds: 0)
  private let body = Array(#"{"total":1250}"#.utf8)

  /// - Parameter digest: nil for the header that our signer sends; otherwise its value, "" for none at all.
  private func caller(digest: String? = nil) throws -> AuthenticatedCaller {
    let signer = RequestSigner(apiKeyId: "key", secret: "secret")
    var headers = signer.headers(
      method: "PUT", contentType: "", pathAndQuery: "/v2/1/baskets/2", body: body, at: now)
    if let digest {
      let date = (name: "Date", value: HTTPDate.text(now))
      let gcs = digest.isEmpty ? [] : [(name: ContentDigest.header, value: digest)]
      let authorization = signer.authorization(
        method: "PUT", contentType: "", date: date.value, gcsHeaders: gcs, pathAndQuery: "/v2/1/baskets/2")
      headers = gcs + [date, ("Authorization", authorization)]
    }
    let request = try SignedRequest(method: "PUT", target: "/v2/1/baskets/2", headers: headers)
    return try RequestAuthenticator().authenticate(request, secret: "secret", at: now)
  }

  @Test func `is base64 of the SHA-256 of the bytes`() {
    #expect(ContentDigest.text(of: []) == "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
    #expect(ContentDigest.text(of: Array("abc".utf8)) == "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
  }

  @Test func `lets one body through, and no other`() throws {
    let caller = try caller()
    try caller.check(body: body, isDigestRequired: true)
    for other in [#"{"total":1}"#, #"{"total":1250} "#, ""] {
      for isRequired in [true, false] {
        #expect(throws: ContentDigestRefusal.mismatch) {
          try caller.check(body: Array(other.utf8), isDigestRequired: isRequired)
        }
      }
    }
  }

  @Test func `is missed only where the key requires it and there is a body`() throws {
    let caller = try caller(digest: "")
    try caller.check(body: body, isDigestRequired: false)
    try caller.check(body: [], isDigestRequired: true)
    #expect(throws: ContentDigestRefusal.missing) { try caller.check(body: body, isDigestRequired: true) }
  }

  @Test(arguments: ["abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0", "e3b0c442"])
  func `in another encoding is refused`(_ value: String) throws {
    let caller = try caller(digest: value)
    #expect(throws: ContentDigestRefusal.mismatch) { try caller.check(body: body, isDigestRequired: false) }
  }

  @Test func `cannot be taken away or changed on the way`() throws {
    let signed = RequestSigner(apiKeyId: "key", secret: "secret").headers(
      method: "PUT", contentType: "", pathAndQuery: "/v2/1/baskets/2", body: body, at: now)
    let other = (name: ContentDigest.header, value: ContentDigest.text(of: []))
    let without = signed.filter { $0.name != ContentDigest.header }
    for headers in [without, without + [other]] {
      let request = try SignedRequest(method: "PUT", target: "/v2/1/baskets/2", headers: headers)
      #expect(throws: SignatureRefusal.signatureMismatch) {
        try RequestAuthenticator().authenticate(request, secret: "secret", at: now)
      }
    }
  }
}

@Suite struct `A date of HTTP` {
  @Test(arguments: [
    ("2014-06-06T13:39:43Z", "Fri, 06 Jun 2014 13:39:43 GMT"),
    ("2020-01-01T11:00:00Z", "Wed, 01 Jan 2020 11:00:00 GMT"),
    ("2024-02-29T00:00:00Z", "Thu, 29 Feb 2024 00:00:00 GMT"),
    ("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
  ]) func `is written and read`(_ rfc3339: String, _ text: String) throws {
    let time = try #require(Timestamp(rfc3339: rfc3339))
    #expect(HTTPDate.text(time) == text)
    #expect(HTTPDate.parse(text) == time)
    #expect(HTTPDate.parse(text.replacing("GMT", with: "UTC")) == time)
  }

  @Test(arguments: ["Friday, 06-Jun-14 13:39:43 GMT", "Fri Jun  6 13:39:43 2014"])
  func `is read in the older forms`(_ text: String) {
    #expect(HTTPDate.parse(text)?.description == "2014-06-06T13:39:43Z")
  }

  @Test(arguments: [
    "", "Fri, 06 Jun 2014 13:39:43", "Thu, 06 Jun 2014 13:39:43 GMT", "Fri, 6 Jun 2014 13:39:43 GMT",
    "Fri, 06 Jun 2014 13:39:60 GMT", "Fri, 31 Jun 2014 13:39:43 GMT", "Fri, 06 Jun 2014 13:39:43 CET",
    "Fri,  06 Jun 2014 13:39:43 GMT", "Fri, 06 Jun 2014 1:39:43 GMT", "Fri, 06 Jun 12014 13:39:43 GMT",
    "Friday, 06-Jul-14 13:39:43 GMT", "Fri, 06-Jun-14 13:39:43 GMT", "Friday, 06-Jun-2014 13:39:43 GMT",
    "Friday, 06-Jun-14 13:39:43 CET", "Thu Jun  6 13:39:43 2014", "Fri Jun x 13:39:43 2014", "Fri Jun  6 13:39:43 14",
  ]) func `is not read in another spelling`(_ text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }
}
