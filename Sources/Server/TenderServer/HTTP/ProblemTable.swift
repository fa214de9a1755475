import Administration
import HTTPServing
import Hummingbird

extension ProblemTable {
  /// The problem of an error that a router or a body's reader throws too.
  static func answer(to error: any Error) -> Problem {
    switch error {
    case let failure as BodyReader.Failure: Problem(failure)
    case let refusal as ShopperRefusal: worded(refusal)
    case let error as HTTPError: http(error)
    default: problem(for: error)
    }
  }

  private static func worded(_ refusal: ShopperRefusal) -> Problem {
    var problem = problem(for: refusal.error)
    problem.detail = refusal.text
    return problem
  }

  private static func http(_ error: HTTPError) -> Problem {
    switch error.status {
    case .notFound: Problem(.notFound, "not_found", "There is nothing at this address.")
    case .contentTooLarge: Problem(.contentTooLarge, "body_too_large", "The body is too long.")
    default: Problem(error.status, "bad_request", error.status.reasonPhrase)
    }
  }
}
