import Administration
import BackOffice
import HTTPServing
import Hummingbird
import NIOCore
import StrictJSON

/// `POST /users/calls?by=USER` on the administration socket, with a ``UserCall``.
struct UserAdministrationController: Sendable {
  let office: BackOffice

  func perform(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try await BodyReader.collect(request, limit: 65_536)
    let call = try RequestBody.refusing {
      try StrictJSONDecoder().decode(UserCall.self, from: body)
    }
    let users = office.users(actor: CommandLineOperator(request.query["by"] ?? "").actor)
    do { return JSONAnswer.response(try await users.perform(call)) } catch let refusal as OfficeRefusal {
      throw Problem(.conflict, "office_refused", refusal.reason)
    }
  }
}
