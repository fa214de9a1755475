import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import TenderCheckoutAPI

extension Problem {
  func response(requestID: String) -> Response {
    let answer = answer(requestID: requestID)
    return Response(
      status: status, headers: answer.head.headerFields, body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
  }

  func answer(requestID: String) -> PlainAnswer {
    let body = JSONAnswer.bytes(
      ProblemDetails(
        title: status.reasonPhrase, status: status.code, code: code, detail: detail, field: field, errors: sheetErrors,
        requestId: requestID))
    var headers = JSONAnswer.headers("application/problem+json")
    headers[.contentLength] = String(body.count)
    if let retryAfter { headers[.retryAfter] = String(retryAfter) }
    if let allow { headers[.allow] = allow }
    return PlainAnswer(head: HTTPResponse(status: status, headerFields: headers), body: body)
  }
}
