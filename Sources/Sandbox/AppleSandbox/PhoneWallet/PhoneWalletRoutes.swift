import HTTPServing
import Hummingbird
import QRCodes
import StrictJSON

/// The phone as wallet over HTTP: calls of a sheet on any page, and of the phone's own page.
struct PhoneWalletRoutes: Sendable {
  let sheets: RemoteSheets
  /// Where phones reach the wallet page: `http://192.168.1.20:8406`.
  let address: @Sendable () -> String

  // MARK: For a sheet, on a page of any origin

  /// The sheet's name, and its code as the drawing to scan.
  func open(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let sheet = await sheets.open(try await request.json().member("state").value)
    let url = "\(address())/wallet?code=\(sheet.code)"
    guard let drawing = QRCode(url) else { throw SandboxProblem.codeUnknown }
    return JSONAnswer.response(
      [
        "sheet": .string(sheet.id), "url": .string(url), "side": .integer(Int64(drawing.side)),
        "path": .string(drawing.path),
      ], status: .created)
  }

  func exchange(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let body = try await request.json()
    let (isPaired, choices) = try await sheets.exchange(
      context.parameter("sheet"), body.member("state").value, after: Int(clamping: body.member("received").integer))
    return JSONAnswer.response(["isPaired": .bool(isPaired), "choices": .array(choices)])
  }

  func close(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await sheets.close(context.parameter("sheet"), request.json().member("state").value)
    return Response(status: .noContent)
  }

  // MARK: For the phone's page, which the sandbox serves

  func pair(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let wallet = try await sheets.pair(request.json().member("code").string)
    return JSONAnswer.response(["wallet": .string(wallet)], status: .created)
  }

  func show(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let sheet = try await sheets.sheet(of: context.parameter("wallet"))
    return JSONAnswer.response(["isOpen": .bool(sheet.isOpen), "state": sheet.state])
  }

  func choose(_ request: Request, _ context: SandboxContext) async throws -> Response {
    try await sheets.choose(request.json().value, with: context.parameter("wallet"))
    return Response(status: .noContent)
  }
}
