import StrictJSON
public import TenderPayments
public import TenderSheet

/// Calls `/applepay/*` for an app, with one method for each call.
///
/// A call is authorized by the basket's id alone. Refusals and broken connections are thrown as ``CheckoutFailure``,
/// which says whether the server may have acted.
public struct CheckoutClient: Sendable {
  /// The default time limit of a call.
  public static let timeout: Duration = .seconds(10)

  private let transport: CheckoutTransport

  /// A client that uses `.urlSession(server:)`, or a test's transport.
  public init(_ transport: CheckoutTransport) { self.transport = transport }

  /// `GET /applepay/metadata`: the offer of the merchant at the server's host.
  public func metadata(within time: Duration = timeout) async throws(CheckoutFailure) -> MetadataAnswer {
    try await answer(CheckoutCall(.get, "/applepay/metadata"), time)
  }

  /// `GET /applepay/basket/{id}`: the payment request, and the quote that it shows.
  public func sheet(
    of basket: BasketID, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> BasketSheetAnswer {
    try await answer(CheckoutCall(.get, path("basket", basket)), time)
  }

  /// `PUT /applepay/basket/{id}/details`: the order details that the shopper chooses before the sheet opens.
  public func prepare(
    _ basket: BasketID, _ details: DetailsCall, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> BasketSheetAnswer {
    try await answer(CheckoutCall(.put, path("basket", basket) + "/details", body: details.json.serialized()), time)
  }

  /// `POST /applepay/basket/{id}/update`: what the sheet shows after a change.
  ///
  /// - Parameters:
  ///   - basket: the basket's id.
  ///   - change: what the shopper changed.
  ///   - currency: of the sheet; the amounts in the answer do not name it.
  ///   - time: the call's time limit.
  public func update(
    _ basket: BasketID, _ change: SheetChange, currency: Currency, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> UpdateAnswer {
    let call = CheckoutCall(.post, path("basket", basket) + "/update", body: change.json.serialized())
    let reply = try await reply(to: call, time)
    return try Self.reading(reply) { try UpdateAnswer(try JSONReader.read(reply.body), currency: currency) }
  }

  /// `POST /applepay/basket/{id}/validatepostalcode`: whether the basket can be delivered there.
  public func isDeliverable(
    _ basket: BasketID, postalCode: String, countryCode: String, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> Bool {
    let body: JSONValue = ["postalCode": .string(postalCode), "countryCode": .string(countryCode)]
    let call = CheckoutCall(.post, path("basket", basket) + "/validatepostalcode", body: body.serialized())
    let answer: PostalCodeAnswer = try await answer(call, time)
    return answer.deliverable
  }

  /// `POST /applepay/validate`: the merchant session that a sheet on a Mac asks for, byte for byte.
  ///
  /// - Parameters:
  ///   - basket: the basket's id.
  ///   - validationURL: from a web page; apps have none.
  ///   - time: the call's time limit.
  public func merchantSession(
    _ basket: BasketID, validationURL: String? = nil, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> [UInt8] {
    var body: JSONObject = ["basketId": .string(basket.rawValue)]
    body["validationURL"] = validationURL.map(JSONValue.string)
    let call = CheckoutCall(.post, "/applepay/validate", body: JSONValue.object(body).serialized())
    return try await reply(to: call, time).body
  }

  /// `POST /applepay/payment`: pays. Safe to repeat, because a basket has one payment.
  public func pay(
    _ submission: PaymentSubmission, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> PaymentAnswer {
    let body: [UInt8]
    do {
      body = try submission.json().serialized()
    } catch {
      throw .notSent("paymentData is not JSON (\(error.code.rawValue))")
    }
    return try await answer(CheckoutCall(.post, "/applepay/payment", body: body), time)
  }

  /// `GET /applepay/payment/{basketId}`: the outcome of the payment.
  public func outcome(
    of basket: BasketID, within time: Duration = timeout
  ) async throws(CheckoutFailure) -> PaymentAnswer {
    try await answer(CheckoutCall(.get, path("payment", basket)), time)
  }

  /// `DELETE /applepay/payment/{basketId}`: cancels the basket, unless its payment may have reached an acquirer.
  public func cancel(_ basket: BasketID, within time: Duration = timeout) async throws(CheckoutFailure) {
    _ = try await reply(to: CheckoutCall(.delete, path("payment", basket)), time)
  }
}

extension CheckoutClient {
  /// A basket's id comes from a server and is put into a path, so every other character than those of ids is escaped.
  private func path(_ kind: String, _ basket: BasketID) -> String {
    let safe = basket.rawValue.utf8.map { byte in
      let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte]).uppercased()
    }
    return "/applepay/\(kind)/\(safe.joined())"
  }

  private func answer<Answer: Decodable>(
    _ call: CheckoutCall, _ time: Duration
  ) async throws(CheckoutFailure) -> Answer {
    let reply = try await reply(to: call, time)
    return try Self.reading(reply) { try StrictJSONDecoder().decode(Answer.self, from: reply.body) }
  }

  private func reply(to call: CheckoutCall, _ time: Duration) async throws(CheckoutFailure) -> CheckoutReply {
    let reply: CheckoutReply
    do {
      reply = try await transport.send(call, time)
    } catch {
      switch error {
      case .notSent(let reason): throw .notSent(reason)
      case .lost: throw .lost
      }
    }
    guard (200..<300).contains(reply.status) else { throw Self.refusal(reply) }
    return reply
  }

  private static func refusal(_ reply: CheckoutReply) -> CheckoutFailure {
    let problem = try? StrictJSONDecoder().decode(ProblemDetails.self, from: reply.body)
    return problem.map(CheckoutFailure.refused) ?? .unreadable(status: reply.status)
  }

  private static func reading<Answer>(
    _ reply: CheckoutReply, _ read: () throws -> Answer
  ) throws(CheckoutFailure) -> Answer {
    do {
      return try read()
    } catch {
      throw .unreadable(status: reply.status)
    }
  }
}

extension SheetChange {
  fileprivate var json: JSONValue {
    switch self {
    case .shippingContact(let contact): ["shippingContact": contact.json]
    case .shippingMethod(let identifier): ["shippingMethod": ["identifier": .string(identifier)]]
    case .couponCode(let code): ["couponCode": .string(code)]
    case .paymentMethod(let type): ["paymentMethod": ["type": .string(type.rawValue)]]
    }
  }
}

extension DetailsCall {
  fileprivate var json: JSONValue {
    var object: JSONObject = ["serviceType": .string(serviceType.rawValue)]
    object["requestedFor"] = requestedFor.map(JSONValue.string)
    object["note"] = note.map(JSONValue.string)
    object["contact"] = contact.map(\.json)
    return .object(object)
  }
}

extension RedactedContact {
  fileprivate var json: JSONValue {
    let texts: [(String, String?)] = [
      ("subLocality", subLocality), ("locality", locality), ("subAdministrativeArea", subAdministrativeArea),
      ("administrativeArea", administrativeArea), ("postalCode", postalCode), ("countryCode", countryCode),
    ]
    var object: JSONObject = [:]
    for (key, text) in texts { object[key] = text.map(JSONValue.string) }
    return .object(object)
  }
}
