import Administration
import HTTPServing
import Hummingbird
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments

/// What the command line asks of a running server about its merchants, on a socket that only its own user can open.
struct MerchantAdministrationController: Sendable {
  let administration: MerchantAdministration
  let merchants: LiveMerchants

  /// `POST /merchants/calls?by=USER` with a ``MerchantCall``. The running server takes over what it has changed.
  func perform(_ request: Request, _ context: ServerContext) async throws -> Response {
    var answer = try await answer(request)
    do { try await merchants.reloadIfChanged() } catch {
      answer.notes.append("the running server goes on with the merchants that it had: \(error)")
    }
    return JSONAnswer.response(answer)
  }

  /// `POST /merchants/reload`
  func reload(_ request: Request, _ context: ServerContext) async throws -> Response {
    do { return JSONAnswer.response(try await merchants.reload()) } catch {
      throw Problem(.conflict, "merchants_not_read", "Nothing has changed: \(error)")
    }
  }

  private func answer(_ request: Request) async throws -> MerchantAnswer {
    let body = try await BodyReader.collect(request, limit: 4 << 20)
    let call = try RequestBody.refusing {
      try StrictJSONDecoder().decode(MerchantCall.self, from: body)
    }
    let person = CommandLineOperator(request.query["by"] ?? "")
    do { return try await administration.perform(call, by: person) } catch let error as MerchantIdentityError {
      throw Problem(.conflict, error.code.rawValue, "\(error.reason) \(error.advice)")
    }
  }
}
