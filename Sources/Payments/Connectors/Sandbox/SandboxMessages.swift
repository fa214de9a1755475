import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// The bytes that go to the sandbox's acquirer, and what the bytes that come back mean.
///
/// An answer counts only when it parses strictly and repeats our reference, amount and currency. Everything else,
/// well-meant or not, leaves the outcome unknown.
enum SandboxMessages {
  /// An authorization without its credential. The first payment of an agreement lets the acquirer keep it.
  static func authorization(_ request: AuthorizationRequest) -> JSONObject {
    var message: JSONObject = [
      "reference": .string(request.reference.rawValue), "merchantReference": .string(request.merchantReference),
      "amount": .integer(request.amount.minorUnits), "currency": .string(request.amount.currency.code),
    ]
    if let agreement = request.sale.agreement {
      message["storedCredential"] = ["sequence": "first", "series": .string(series(of: agreement))]
    }
    return message
  }

  static func add(_ card: NetworkToken, to message: inout JSONObject) {
    message["dpan"] = .string(card.dpan.revealed)
    message["expiry"] = .string(card.expiry.yymm)
    message["cryptogram"] = .string(card.cryptogram.revealed)
    message["eci"] = card.eci.map(JSONValue.string)
  }

  /// A later payment of an agreement, without number and cryptogram.
  static func charge(_ credential: StoredCredential, _ agreement: SaleDetails.CredentialUse?) -> JSONValue {
    var stored: JSONObject = [
      "sequence": "subsequent", "series": .string(agreement.map(series) ?? "unscheduled"),
      "authorization": .string(credential.firstPayment),
    ]
    stored["initialNetworkTransactionId"] = credential.networkTransactionID.map(JSONValue.string)
    return .object(stored)
  }

  private static func series(of agreement: SaleDetails.CredentialUse) -> String {
    agreement.isRecurring ? "recurring" : "unscheduled"
  }

  static func followUp(_ request: FollowUpRequest) -> [UInt8] {
    var message: JSONObject = [
      "reference": .string(request.reference.rawValue), "amount": .integer(request.amount.minorUnits),
      "currency": .string(request.amount.currency.code),
    ]
    if request.isFinal { message["final"] = .bool(true) }
    return JSONValue.object(message).serialized()
  }

  static func reversal(_ request: InquiryRequest) -> [UInt8] {
    let message: JSONValue = ["reference": .string(request.reference.rawValue)]
    return message.serialized()
  }

  static func answer(
    _ response: InboundResponse, about reference: AttemptReference, _ amount: Amount
  ) -> AcquirerAnswer {
    switch response.status {
    case 200: read(response.body, about: reference, amount)
    // Refused before it was looked at. Nothing about these can have been done half.
    case 400, 401, 403, 404, 422: refusal(response)
    default: .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  static func inquiry(_ response: InboundResponse, about reference: AttemptReference, _ amount: Amount) -> Inquiry {
    if response.status == 404, problemCode(response) == "not_found" { return .notFound }
    guard response.status == 200 else {
      return .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
    let answer = read(response.body, about: reference, amount)
    if case .unknown(let interruption) = answer { return .unavailable(interruption) }
    return .answer(answer)
  }

  static func reversal(_ response: InboundResponse, about reference: AttemptReference) -> Reversal {
    guard response.status == 200, let root = try? JSONField(JSONReader.read(response.body)),
      let echoed = try? root.member("reference").string, echoed == reference.rawValue,
      let code = try? root.member("responseCode").string
    else { return .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP \(response.status)")) }
    return switch code {
    case "00": .reversed
    case "25": .nothingFound
    case "96": .unavailable(Interruption(.acquirerUncertain, detail: code))
    default: .refused(code: code)
    }
  }

  static func transcript(
    _ request: OutboundRequest, _ result: Result<InboundResponse, TransportError>
  ) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrubber.scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(
      request: "\(request.method) \(request.url) \(scrubber.scrub(request.body))", response: answer)
  }

  private static let scrubber = Scrubber(showing: [
    "reference", "merchantReference", "amount", "approvedAmount", "currency", "eci", "acquirerReference", "result",
    "responseCode", "authorizationCode", "networkTransactionId", "code", "sequence", "series", "authorization",
    "initialNetworkTransactionId",
  ])
}

extension SandboxMessages {
  static func read(_ body: [UInt8], about reference: AttemptReference, _ amount: Amount) -> AcquirerAnswer {
    do {
      let root = JSONField(try JSONReader.read(body))
      guard try root.member("reference").string == reference.rawValue,
        try root.member("amount").integer == amount.minorUnits,
        try root.member("currency").string == amount.currency.code
      else { return .unknown(Interruption(.unintelligibleAnswer, detail: "the answer to another question")) }
      return try judge(root, amount)
    } catch {
      return .unknown(Interruption(.unintelligibleAnswer, detail: error.description))
    }
  }

  /// The result in words and in code must agree.
  private static func judge(_ root: JSONField, _ asked: Amount) throws(JSONError) -> AcquirerAnswer {
    let code = try root.member("responseCode").string
    switch (try root.member("result").string, code) {
    case ("approved", "00"): return .approved(try approval(root, try approvedAmount(root, asked)))
    case ("approved", "10"):
      guard let less = try approvedAmount(root, asked) else {
        return .unknown(Interruption(.unintelligibleAnswer, detail: "a partial approval of the whole amount"))
      }
      return .approved(try approval(root, less))
    case ("pending", "09"): return .pending(Pending(acquirerReference: try acquirerReference(root)))
    case ("declined", _):
      guard let reason = SandboxDeclines.reason(code) else {
        return .unknown(Interruption(.acquirerUncertain, detail: "response code \(code)"))
      }
      return .declined(Decline(reason: reason, code: code))
    default: return .unknown(Interruption(.unintelligibleAnswer, detail: "a result that contradicts its code"))
    }
  }

  private static func approval(_ root: JSONField, _ approved: Amount?) throws(JSONError) -> Approval {
    Approval(
      acquirerReference: try acquirerReference(root),
      authorizationCode: try root.memberIfPresent("authorizationCode")?.string,
      networkTransactionID: try root.memberIfPresent("networkTransactionId")?.string, approvedAmount: approved,
      storedReference: try root.memberIfPresent("storedCredential")?.string)
  }

  /// Nil when the whole amount was approved. More than was asked for makes no sense.
  private static func approvedAmount(_ root: JSONField, _ asked: Amount) throws(JSONError) -> Amount? {
    guard let field = try root.memberIfPresent("approvedAmount") else { return nil }
    let approved = try field.amount(in: asked.currency)
    guard approved.isPositive, approved.minorUnits <= asked.minorUnits else {
      throw JSONError(.invalid, path: field.path, "not from 1 to the amount that was asked for")
    }
    return approved == asked ? nil : approved
  }

  /// It becomes part of an address when the authorization is captured, so it must look like a name.
  private static func acquirerReference(_ root: JSONField) throws(JSONError) -> String {
    let field = try root.member("acquirerReference")
    let text = try field.string
    guard isName(text) else {
      throw JSONError(.invalid, path: field.path, "not 1 to 64 letters, digits and hyphens")
    }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
      }
  }

  private static func refusal(_ response: InboundResponse) -> AcquirerAnswer {
    guard let code = problemCode(response) else {
      return .unknown(Interruption(.unintelligibleAnswer, detail: "HTTP \(response.status)"))
    }
    return .declined(Decline(reason: .configuration, code: code))
  }

  private static func problemCode(_ response: InboundResponse) -> String? {
    guard let root = try? JSONReader.read(response.body), case .string(let code) = root["code"],
      (1...40).contains(code.utf8.count), code.utf8.allSatisfy({ (0x61...0x7A).contains($0) || $0 == 0x5F })
    else { return nil }
    return code
  }
}
