import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import TenderCheckoutAPI
import TenderPayments
import TenderSheet

/// A refusal on its way out: RFC 9457 problem details with a stable code.
struct Problem: Error, Sendable {
  let status: HTTPResponse.Status
  let code: String
  var detail: String
  /// The property of the request that is at fault.
  var field: String?
  /// Errors that belong into the payment sheet, on their field.
  var sheetErrors: [SheetError] = []
  /// Seconds.
  var retryAfter: Int?
  /// The methods that the address takes, where the refused request has another one.
  var allow: String?

  init(
    _ status: HTTPResponse.Status, _ code: String, _ detail: String, field: String? = nil,
    sheetErrors: [SheetError] = [], retryAfter: Int? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.field = field
    self.sheetErrors = sheetErrors
    self.retryAfter = retryAfter
  }

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

extension Problem: CustomStringConvertible {
  var description: String { detail }
}
