package import HTTPTypes
package import StrictJSON

/// An answer whose body is at hand, for where nothing can be waited for.
package struct PlainAnswer: Sendable {
  package var head: HTTPResponse
  package let body: [UInt8]

  package init(head: HTTPResponse, body: [UInt8]) { (self.head, self.body) = (head, body) }

  package init(_ value: JSONValue, status: HTTPResponse.Status) {
    body = value.serialized()
    var headers = JSONAnswer.headers(MediaType.json)
    headers[.contentLength] = String(body.count)
    head = HTTPResponse(status: status, headerFields: headers)
  }
}
