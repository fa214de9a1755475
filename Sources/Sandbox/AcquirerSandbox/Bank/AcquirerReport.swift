import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import Storage
import StrictJSON
package import TenderPayments

extension AcquirerRoutes {
  /// `GET /acquirer/v1/report?format=jsonl|csv&from=&until=`: every operation and its
  /// result, one on a line, oldest first. A reversal has the reference of the operation that it reversed.
  @Sendable func report(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { merchant, _, _ in
      let query = request.query
      func time(_ name: String, _ otherwise: Timestamp) throws -> Timestamp {
        guard let text = query[name] else { return otherwise }
        guard let time = Timestamp(rfc3339: String(text)) else { throw AcquirerProblem.invalid(String(name)) }
        return time
      }
      let lines = try await service.store.report(
        of: merchant, from: try time("from", Timestamp(seconds: 0)),
        until: try time("until", Timestamp(microseconds: .max)))
      let isCSV = query["format"] == "csv"
      let text = isCSV ? ReportedOperation.csv(lines) : ReportedOperation.jsonLines(lines)
      return Response(
        status: .ok, headers: [.contentType: isCSV ? MediaType.csv : MediaType.jsonLines],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
  }
}

extension AcquirerStore {
  func report(of merchant: String, from: Timestamp, until: Timestamp) async throws -> [ReportedOperation] {
    try await database.read { transaction in
      try transaction.rows(
        """
        SELECT operations.reference, kind, COALESCE(approved_amount, operations.amount) AS amount, operations.currency,
          response_code, operations.created_at, holds.reference AS authorization_reference, operations.acquirer_reference AS name
        FROM operations JOIN holds ON holds.acquirer_reference = operations.hold
        WHERE operations.merchant = $1 AND operations.created_at >= $2 AND operations.created_at < $3
        UNION ALL
        SELECT reference, 'reverse', amount, currency, '00', created_at, reference, acquirer_reference FROM holds
        WHERE merchant = $1 AND state = 'reversed' AND created_at >= $2 AND created_at < $3
        ORDER BY 6, 1
        """, .text(merchant), .time(from), .time(until)
      ).map(ReportedOperation.init)
    }
  }
}

/// A line of the acquirer's report.
package struct ReportedOperation: Sendable {
  let reference: String
  let operation: String
  let amount: Amount
  let result: String
  let time: Timestamp
  /// The merchant's reference of the authorization, and the acquirer's name of the operation; nil where a report of this
  /// kind does not say them.
  package var authorization: String?
  package var name: String?

  package init(reference: String, operation: String, amount: Amount, result: String, time: Timestamp) {
    self.reference = reference
    self.operation = operation
    self.amount = amount
    self.result = result
    self.time = time
  }

  init(_ row: Row) throws {
    reference = try row.text("reference")
    operation = try row.text("kind")
    amount = try row.amount()
    time = try row.time("created_at")
    (authorization, name) = (try row.text("authorization_reference"), try row.text("name"))
    result =
      switch try row.text("response_code") {
      case "00", "10": "approved"
      case "09": "pending"
      default: "declined"
      }
  }

  static func jsonLines(_ lines: [ReportedOperation]) -> String {
    lines.map { line in
      var value: JSONObject = [
        "reference": .string(line.reference), "operation": .string(line.operation),
        "amount": .integer(line.amount.minorUnits), "currency": .string(line.amount.currency.code),
        "result": .string(line.result), "time": .string(line.time.description),
      ]
      value["authorization"] = line.authorization.map(JSONValue.string)
      value["name"] = line.name.map(JSONValue.string)
      return String(decoding: JSONValue.object(value).serialized(), as: UTF8.self) + "\n"
    }.joined()
  }

  package static func csv(_ lines: [ReportedOperation]) -> String {
    "reference,operation,amount,currency,result,time,authorization,name\n"
      + lines.map { line in
        "\(CSV.field(line.reference)),\(line.operation),\(line.amount.minorUnits),\(line.amount.currency.code),\(line.result),"
          + "\(line.time),\(CSV.field(line.authorization ?? "")),\(CSV.field(line.name ?? ""))\n"
      }.joined()
  }
}
