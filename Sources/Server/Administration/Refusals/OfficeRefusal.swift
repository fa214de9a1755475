import Connectors
package import HTTPTypes
import MerchantIdentity
import Settings

/// Why a request is refused, as the page or the command line says it.
package struct OfficeRefusal: Error, Sendable, CustomStringConvertible {
  package let status: HTTPResponse.Status
  /// For people: what is wrong, and what to do.
  package let reason: String
  /// Seconds.
  package var retryAfter: Int?
  /// The field of the form at which its page shows the reason. Nil for the form as a whole.
  package var field: String?
  /// What the field shows where nothing was typed.
  package var proposal: String?
  /// Whether the form's idempotency key stands for something else that was asked for before, so that the form gets another.
  package var isKeySpent = false
  package var description: String { reason }

  package init(status: HTTPResponse.Status, reason: String, retryAfter: Int? = nil, field: String? = nil) {
    (self.status, self.reason, self.retryAfter, self.field) = (status, reason, retryAfter, field)
  }

  package static func badRequest(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    OfficeRefusal(status: .badRequest, reason: reason, field: field)
  }
  package static func conflict(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    OfficeRefusal(status: .conflict, reason: reason, field: field)
  }
  package static func forbidden(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .forbidden, reason: reason) }
  package static func notFound(_ reason: String) -> OfficeRefusal { OfficeRefusal(status: .notFound, reason: reason) }

  /// What a use case of the server's refused.
  package static func refused(_ reason: String, at field: String? = nil) -> OfficeRefusal {
    conflict(reason, at: field)
  }

  /// One answer for what is not there and for what is another merchant's.
  package static let nothing = notFound("There is nothing at this address.")
}

extension OfficeRefusal {
  /// Says in words what the server refuses; what is our own fault is thrown on.
  package static func translating<R>(_ work: () async throws -> R) async throws -> R {
    do { return try await work() } catch let refusal as OfficeRefusal { throw refusal } catch {
      let problem = ProblemTable.problem(for: error)
      if let error = error as? ConfigurationError {
        throw fields[error.key].map { refused(error.reason, at: $0) } ?? refused("\(error)")
      }
      if let error = error as? MerchantIdentityError {
        throw refused("\(error.reason) \(error.advice)", at: fields[error.code.rawValue] ?? "certificate")
      }
      if let error = error as? ReportError { throw refused("The report cannot be read: \(error).", at: "report") }
      if problem.status == .tooManyRequests {
        throw OfficeRefusal(status: problem.status, reason: problem.detail, retryAfter: problem.retryAfter)
      }
      guard problem.status.code < 500 || problem.status == .serviceUnavailable else { throw error }
      throw refused(problem.detail, at: fields[problem.code])
    }
  }

  /// How an attempt that this error ended stands in the audit chain.
  static func ending(_ error: any Error) async -> (end: AttemptEnd, words: String) {
    do { return try await translating { throw error } } catch { return AttemptEnd.of(error) }
  }

  /// The forms' fields by what is wrong with them: an option of the command line, or the code of an error.
  private static let fields = [
    "--id": "id", "--merchant-identifier": "identifier", "--name": "name", "--country": "country",
    "--currency": "currency", "--domain": "domains", "bad_domain": "domain", "duplicate_domain": "domain",
    "bad_association_file": "association", "amount_exceeds_available": "amount", "invalid_amount": "amount",
    "amount_too_fine_for_acquirer": "amount", "unknown_route": "route", "no_listing": "route",
    "nothing_to_compare": "report", "webhooks": "url",
  ]
}

/// How an attempt ended, as the end of its action's name.
package enum AttemptEnd: String, Sendable, Codable {
  case outcome, refused
  /// By a fault of ours.
  case failed

  package static func of(_ error: any Error) -> (end: AttemptEnd, words: String) {
    (error as? OfficeRefusal).map { (.refused, $0.reason) } ?? (.failed, "the server's log says why")
  }
}
