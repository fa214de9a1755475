import HTTPServing
import Hummingbird
import StrictJSON

/// Paired phones and watches over HTTP: calls of a sheet on any page, and of the device's own window.
struct PairingRoutes: Sendable {
  let devices: PairedDevices

  // MARK: For a sheet, on a page of any origin

  func list(_ request: Request, _ context: SandboxContext) async -> Response {
    JSONAnswer.response(.array(await devices.present.map(\.json)))
  }

  func ask(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let confirmation = try await devices.ask(body.member("device").string, body.member("payment"))
    return JSONAnswer.response(confirmation.json, status: .created)
  }

  func confirmation(_ request: Request, _ context: SandboxContext) async throws -> Response {
    JSONAnswer.response(try await devices.confirmation(context.parameter("confirmation")).json)
  }

  func withdraw(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await devices.withdraw(context.parameter("confirmation"))
    return Response(status: .noContent)
  }

  // MARK: For the device's own window, which the sandbox serves

  func pair(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let name = try body.member("name").string
    guard let kind = PairedDevice.Kind(rawValue: try body.member("kind").string), (1...40).contains(name.count) else {
      throw SandboxProblem(
        status: 400, code: "invalid_request", message: "kind is phone or watch, name has 1 to 40 characters.")
    }
    return JSONAnswer.response(try await devices.pair(name, kind).json, status: .created)
  }

  func waiting(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let waiting = try await devices.waiting(for: context.parameter("device"))
    return JSONAnswer.response(["confirmation": waiting?.json ?? .null])
  }

  func answer(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    try await devices.answer(
      body.member("confirmation").string, on: context.parameter("device"), isApproved: body.member("approve").bool)
    return Response(status: .noContent)
  }

  func leave(_ request: Request, _ context: SandboxContext) async throws -> Response {
    await devices.leave(try context.parameter("device"))
    return Response(status: .noContent)
  }
}
