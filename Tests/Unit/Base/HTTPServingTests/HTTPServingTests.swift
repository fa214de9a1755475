import HTTPServing
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import StrictJSON
import Testing

@Suite struct `Static files` {
  let files = StaticFiles(
    ["kit.js": "export {}", "notes.txt": "internal", "kit.d.ts": "type A = 1"],
    public: ["kit.js", "kit.d.ts", "gone.js"])

  @Test func `only listed files are served`() {
    #expect(files.names == ["kit.d.ts", "kit.js"])
    #expect(files["notes.txt"] == nil && files["gone.js"] == nil)
  }

  @Test(arguments: [
    ("kit.js", "text/javascript; charset=utf-8"), ("kit.d.ts", "text/plain; charset=utf-8"),
    ("kit.css", "text/css; charset=utf-8"), ("kit.svg", "image/svg+xml"), ("kit.json", "application/json"),
    ("page.html", "text/html; charset=utf-8"), ("kit", "text/plain; charset=utf-8"),
  ])
  func `a file's media type follows from the end of its name`(_ name: String, _ type: String) throws {
    let file = try #require(StaticFiles([name: ""], public: [name])[name])
    #expect(file.response(caching: "no-cache").headers[.contentType] == type)
  }

  @Test func `a caller that has the file gets 304 with the same headers and no body`() async throws {
    let file = try #require(files["kit.js"])
    let router = Router()
    router.get("/kit.js") { request, _ in file.response(to: request, caching: "no-cache") }
    try await Application(router: router).test(.router) { client in
      let first = try await client.execute(uri: "/kit.js", method: .get)
      let tag = try #require(first.headers[.eTag])
      #expect(tag == "\"\(file.integrity)\"" && String(buffer: first.body) == "export {}")
      let second = try await client.execute(uri: "/kit.js", method: .get, headers: [.ifNoneMatch: tag])
      #expect(second.status == .notModified && second.body.readableBytes == 0)
      #expect(second.headers[.eTag] == tag && second.headers[.cacheControl] == "no-cache")
    }
  }
}

@Suite struct `Compressed files` {
  let file = StaticFiles(
    ["kit.js": "export {}"],
    compressed: ["gzip": ["kit.js": "Z3ppcA=="], "br": ["kit.js": "YnI="], "zstd": ["kit.js": "enN0ZA=="]],
    public: ["kit.js"])["kit.js"]

  @Test(arguments: [
    (nil, ""), ("", ""), ("gzip", "gzip"), ("gzip, br", "br"), ("br;q=0.5, gzip", "gzip"), ("GZIP ; Q=0.2", "gzip"),
    ("gzip;q=0", ""), ("*", "br"), ("*, br;q=0", "gzip"), ("gzip;q=0.5, identity", ""), ("zstd", ""), ("*;q=0", ""),
    ("gzip;q=0.500, br;q=0.499", "gzip"), ("br;q=2", ""), ("br;q=1.9", "br"), ("br;q=x, gzip;q=0.001", "gzip"),
    ("identity;q=0.1, gzip;q=0.1", "gzip"), (",,;", ""),
  ])
  func `leave in the coding that the caller likes most`(_ accepted: String?, _ coding: String) throws {
    let response = try #require(file).response(to: request(accepting: accepted), caching: "no-cache")
    #expect(response.headers[.contentEncoding] ?? "" == coding)
    #expect(response.headers[.vary] == "Accept-Encoding")
    #expect(response.body.contentLength == ["": 9, "gzip": 4, "br": 2][coding])
  }

  @Test func `have a tag for each coding, and a caller that has one gets 304`() throws {
    let file = try #require(file)
    let tags = try ["", "gzip", "br"].map { try #require(tag(of: file, $0)) }
    #expect(Set(tags).count == 3 && tags[0] == "\"\(file.integrity)\"")
    for known in [tags[1], "W/\(tags[1])", "\"other\", \(tags[1])", "*"] {
      let answer = file.response(to: request(accepting: "gzip", having: known), caching: "no-cache")
      #expect(answer.status == .notModified && answer.headers[.eTag] == tags[1])
      #expect(answer.headers[.vary] == "Accept-Encoding")
    }
    #expect(file.response(to: request(accepting: "br", having: tags[1]), caching: "no-cache").status == .ok)
  }

  private func tag(of file: StaticFile, _ accepted: String) -> String? {
    file.response(to: request(accepting: accepted), caching: "no-cache").headers[.eTag]
  }

  private func request(accepting accepted: String?, having tag: String? = nil) -> Request {
    var head = HTTPRequest(method: .get, scheme: "http", authority: "x", path: "/kit.js")
    head.headerFields[.acceptEncoding] = accepted
    head.headerFields[.ifNoneMatch] = tag
    return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
  }
}

@Suite struct `A body` {
  @Test(arguments: [
    ("application/json", true), ("application/json; charset=utf-8", true), ("Application/JSON ", true),
    ("application/jsonp", false), ("text/plain", false), (nil, false),
  ])
  func `is read only if its media type is JSON`(_ type: String?, _ isRead: Bool) async throws {
    let request = request("{}", type)
    if isRead {
      #expect(try await BodyReader.json(request, limit: 2) == Array("{}".utf8))
    } else {
      await #expect(throws: BodyReader.Failure.unsupportedType) { try await BodyReader.json(request, limit: 2) }
    }
  }

  @Test func `longer than the limit is refused`() async throws {
    await #expect(throws: BodyReader.Failure.tooLong(limit: 1)) {
      try await BodyReader.collect(request("{}", nil), limit: 1)
    }
  }

  @Test func `that is longer than its beginning is asked about, before more of it is read`() async throws {
    struct Refused: Error {}
    let body = request("0123456789", nil)
    await #expect(throws: Refused.self) {
      try await BodyReader.collect(body, limit: 20, beginning: 4) { beginning in
        #expect(beginning == Array("0123".utf8))
        throw Refused()
      } reserve: { _ in
      }
    }
    let all = try await BodyReader.collect(
      request("0123456789", nil), limit: 10, beginning: 4, mayGoOn: { _ in }, reserve: { _ in })
    #expect(all == Array("0123456789".utf8))
    let short = try await BodyReader.collect(request("0123", nil), limit: 10, beginning: 4) { _ in
      throw Refused()
    } reserve: { _ in
    }
    #expect(short == Array("0123".utf8))
  }

  @Test func `takes its share of what long bodies may have, until nothing holds it`() throws {
    let budget = BodyBudget(10, ofCaller: 6)
    var shares = [budget.share(of: "anna"), budget.share(of: "bert"), budget.share(of: "carl")]
    try shares[0].grow(to: 4)
    try shares[1].grow(to: 6)
    #expect(throws: BodyReader.Failure.noRoom) { try shares[2].grow(to: 1) }
    shares.removeFirst()
    #expect(throws: BodyReader.Failure.noRoom) { try shares[1].grow(to: 5) }
    try shares[1].grow(to: 4)
    #expect(throws: BodyReader.Failure.noRoom) { try shares[1].grow(to: .max) }
  }

  @Test func `leaves others their share of it, however many bodies one caller begins and does not end`() throws {
    let budget = BodyBudget(10, ofCaller: 6)
    let begun = (0..<100).map { _ in budget.share(of: "anna") }
    for share in begun.prefix(6) { try share.grow(to: 1) }
    #expect(throws: BodyReader.Failure.noRoom) { try begun[6].grow(to: 1) }
    try budget.share(of: "bert").grow(to: 4)
    #expect(begun.count == 100)
  }

  @Test func `reserves what has arrived, and not what it could become`() async throws {
    let pieces = AsyncStream<ByteBuffer> { arriving in
      for _ in 0..<4 { arriving.yield(ByteBuffer(string: "abc")) }
      arriving.finish()
    }
    let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
    let body = Request(head: head, body: .init(asyncSequence: pieces))
    var lengths: [Int] = []
    _ = try await BodyReader.collect(
      body, limit: 1_000, beginning: 4, mayGoOn: { _ in }, reserve: { lengths.append($0) })
    #expect(lengths == [6, 9, 12])
  }

  private func request(_ body: String, _ type: String?) -> Request {
    var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
    head.headerFields[.contentType] = type
    return Request(head: head, body: .init(buffer: ByteBuffer(string: body)))
  }
}

@Suite struct `The fields of a form` {
  @Test func `are text, in their order`() throws {
    let fields = try #require(FormFields(Array("a=1&b=%C3%A9+%2B&a=2&c&=d&&e=f=g&%61=3&h=100%".utf8)))
    #expect(fields.pairs.map(\.name) == ["a", "b", "a", "c", "", "e", "a", "h"])
    #expect(fields.pairs.map(\.value) == ["1", "\u{E9} +", "2", "", "d", "f=g", "3", "100%"])
    #expect(fields["a"] == "1" && fields.all("a") == ["1", "2", "3"] && fields["x"] == nil)
  }

  @Test func `are known by their bytes`() throws {
    let fields = try #require(FormFields(Array("e\u{301}=1&a\u{301}&b=2".utf8)))
    #expect(fields["\u{E9}"] == nil && fields["e\u{301}"] == "1")
    #expect(fields["a\u{301}"] == "" && fields["b"] == "2")
  }

  @Test(arguments: ["%00", "a=\u{0}", "a=%FF", "%CC", "a=" + String(repeating: "%CC%81%CC%A7", count: 16)])
  func `are none that hold what no text can, or what is long to compare`(_ body: String) {
    #expect(FormFields(Array(body.utf8)) == nil)
  }

  @Test func `are at most a thousand`() {
    #expect(FormFields(Array(String(repeating: "a&", count: 1_000).utf8)) != nil)
    #expect(FormFields(Array(String(repeating: "a&", count: 1_001).utf8)) == nil)
  }
}

@Suite struct `A JSON answer` {
  @Test func `keeps the order of a value's members and is never cached`() async throws {
    let router = Router()
    router.get("/") { _, _ in JSONAnswer.response(["b": 1, "a": [true, .null]] as JSONValue, status: .created) }
    try await Application(router: router).test(.router) { client in
      let answer = try await client.execute(uri: "/", method: .get)
      #expect(String(buffer: answer.body) == #"{"b":1,"a":[true,null]}"#)
      #expect(answer.status == .created && answer.headers[.contentType] == "application/json")
      #expect(answer.headers[.cacheControl] == "no-store")
    }
  }
}

@Suite struct `A page` {
  @Test func `shows its values escaped, inside the template that it names`() throws {
    let pages = PageTemplates([
      "frame": "<title>{{title}}</title>{{$main}}{{/main}}",
      "order": "{{<frame}}{{$main}}<p>{{note}}</p>{{/main}}{{/frame}}",
    ])
    #expect(
      try pages.html("order", ["title": "Order", "note": "<b> & \"c\""])
        == "<title>Order</title><p>&lt;b&gt; &amp; &quot;c&quot;</p>")
  }

  @Test func `with a name that no template has is an error, and so is a template that cannot be parsed`() throws {
    #expect(throws: PageTemplates.UnknownTemplate.self) { try PageTemplates([:]).html("order", [:]) }
    #expect(throws: (any Error).self) { try PageTemplates(["order": "{{#open}}"]).html("order", [:]) }
  }
}

@Suite struct `A page's escaping` {
  @Test(arguments: ["\"", "'", "<", ">", "&"])
  func `shows a character of HTML as text, whatever stands behind it`(_ character: String) throws {
    let pages = PageTemplates([
      "page": "{{#lines}}<b title=\"{{.}}\">{{> name}}</b>{{/lines}}", "name": "<i title='{{.}}'>{{.}}</i>",
    ])
    for mark in ["", "\u{301}", "\u{200D}", "\u{FE0F}"] {
      let html = try pages.html("page", ["lines": [character + mark]])
      let shown = html.unicodeScalars.filter { "\"'<>&".unicodeScalars.contains($0) }.map { "\($0)" }.joined()
      // Only what the templates hold, and the & of three names.
      #expect(shown == "<\"&\"><'&'>&<><>", "\(html)")
    }
  }

  @Test func `keeps every other character, and letters with their marks`() throws {
    let pages = PageTemplates(["page": "{{text}}"])
    for text in ["Zoe\u{308}", "寿司 🍣 👩‍🍳", "\r\n\t", "a=`b`/"] {
      #expect(Array(try pages.html("page", ["text": text]).utf8) == Array(text.utf8))
    }
  }
}

@Suite struct `A cell of CSV` {
  @Test(arguments: ["=", "+", "-", "@", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"])
  func `that a spreadsheet would take for a formula begins with an apostrophe`(_ sign: String) {
    let formula = "\(sign)1"
    #expect(CSV.line([formula]) == "\"'\(formula)\"\r\n")
    for blank in [" ", "  ", "\u{A0}", "\u{3000}", "\u{FEFF}", "\u{200B}", "\u{0}", "\u{B}"] {
      #expect(CSV.line(["a", blank + formula]) == "a,\"\(blank)'\(formula)\"\r\n", "\(blank.unicodeScalars)")
    }
    for control in ["\t", "\r", "\n", "\r\n"] {
      #expect(CSV.line([control + formula]) == "\"'\(control)'\(formula)\"\r\n")
      #expect(CSV.line(["a" + control + formula]) == "\"a\(control)'\(formula)\"\r\n")
    }
    #expect(CSV.line(["a; " + formula]) == "\"a; '\(formula)\"\r\n")
    #expect(CSV.line(["\"" + formula]) == "\"\"\"'\(formula)\"\r\n")
  }

  @Test func `with a sign elsewhere stays as it is`() {
    #expect(CSV.line(["a=1", "a＝1", "12.50", "１－２", "a @"]) == "a=1,a＝1,12.50,１－２,a @\r\n")
  }

  @Test(arguments: ["\t", "\r", "\n"])
  func `that begins with a tab or a line end begins with an apostrophe`(_ control: String) {
    #expect(CSV.line([control + "a"]) == "\"'\(control)a\"\r\n")
  }
}
