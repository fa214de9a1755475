import StrictJSON

/// Why the emulated Worldline Acquiring rejects a call: a problem of RFC 7807.
struct WorldlineAcquiringProblem: Error, Sendable, Hashable {
  let status: Int
  let title: String
  let detail: String

  init(_ status: Int, _ title: String, _ detail: String) {
    (self.status, self.title, self.detail) = (status, title, detail)
  }

  func json(requestID: String) -> JSONValue {
    let name = title.lowercased().replacing(" ", with: "-")
    return [
      "type": .string("https://docs.acquiring.worldline-solutions.com/Developer-Tools/API/error-handling/\(name)"),
      "title": .string(title), "status": .integer(Int64(status)), "detail": .string(detail),
      "instance": .string("/requests/\(requestID)"), "requestId": .string(requestID),
    ]
  }

  static func invalid(_ detail: String) -> WorldlineAcquiringProblem {
    WorldlineAcquiringProblem(400, "Bad Request", detail)
  }

  static func required(_ field: String) -> WorldlineAcquiringProblem { .invalid("\(field) is required") }

  static func conflict(_ detail: String) -> WorldlineAcquiringProblem {
    WorldlineAcquiringProblem(409, "Conflict", detail)
  }

  static let unauthorized = WorldlineAcquiringProblem(401, "Unauthorized", "The access token is missing or not valid.")
  static let forbidden = WorldlineAcquiringProblem(403, "Forbidden", "The client may not do this for this merchant.")
  static let notFound = WorldlineAcquiringProblem(404, "Not Found", "There is no such resource.")
  static let tooMany = WorldlineAcquiringProblem(429, "Too Many Requests", "Try again later.")
  static let internalError = WorldlineAcquiringProblem(500, "Internal Server Error", "Something went wrong.")
  static let unavailable = WorldlineAcquiringProblem(503, "Service Unavailable", "Try again later.")
}
