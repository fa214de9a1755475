import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// What Checkout.com's answers mean. An answer counts only if it parses and is about our reference, amount, currency and
/// payment; everything else leaves the outcome unknown.
enum CheckoutComAnswers {
  typealias Response = CheckoutComConnector.Response

  /// The answer to `POST /payments`: 201 for declines too, 202 while it is pending.
  static func authorization(_ response: Response, _ request: AuthorizationRequest) -> AcquirerAnswer {
    answer(response, 201, 202) { root, status throws(JSONError) in
      guard try isAbout(request, root) else { return another }
      let name = try name(root.member("id"))
      if status == 202 { return try pending(root, name) }
      let amount = try CheckoutComAmount.read(root.member("amount"), root.member("currency"))
      guard amount == request.amount else { return unknown("the answer is about another amount") }
      return try outcome(root, name, of: request)
    }
  }

  private static func isAbout(_ request: AuthorizationRequest, _ root: JSONField) throws(JSONError) -> Bool {
    guard let reference = try root.memberIfPresent("reference")?.string else { return false }
    return reference == request.reference.rawValue
  }

  /// A payment that waits for the shopper is not authorized and ends by itself: no page sends the shopper there.
  private static func pending(_ root: JSONField, _ name: String) throws(JSONError) -> AcquirerAnswer {
    guard try root.member("status").string == "Pending" else { return unknown("accepted, and not pending") }
    if try root.memberIfPresent("_links")?.memberIfPresent("redirect") != nil {
      return .declined(Decline(reason: .authenticationRequired, code: "redirect"))
    }
    return .pending(Pending(acquirerReference: name))
  }

  /// An amount of zero is answered with *Card Verified*, any other with *Authorized*.
  private static func outcome(
    _ root: JSONField, _ name: String, of request: AuthorizationRequest
  ) throws(JSONError) -> AcquirerAnswer {
    let (isApproved, status) = (try root.member("approved").bool, try root.member("status").string)
    let code = try root.memberIfPresent("response_code")?.string
    switch (isApproved, status) {
    case (true, request.verifiesCard ? "Card Verified" : "Authorized"):
      guard code.map(CheckoutComDeclines.isApproval) ?? true else { return unknown("approved with a decline's code") }
      return .approved(
        Approval(
          acquirerReference: name, authorizationCode: try root.memberIfPresent("auth_code")?.string,
          networkTransactionID: try root.memberIfPresent("scheme_id")?.string,
          networkLinkID: try root.memberIfPresent("scheme_transaction_link_id")?.string,
          storedReference: try root.memberIfPresent("source")?.memberIfPresent("id")?.string))
    case (false, "Declined"): return .declined(CheckoutComDeclines.decline(code))
    case (false, "Pending"): return .pending(Pending(acquirerReference: name))
    default: return unknown("a status that does not fit")
    }
  }

  /// The answer to a capture, void or refund: 202, and processed later.
  static func acceptance(
    _ response: Response, of kind: CheckoutComAction, _ request: FollowUpRequest
  ) -> AcquirerAnswer {
    answer(response, 202) { root, _ throws(JSONError) in
      let reference = try root.memberIfPresent("reference")?.string
      let payment = try root.memberIfPresent("_links")?.memberIfPresent("payment")?.member("href").string
      let ours = kind.reference(request.reference)
      guard reference != nil || payment != nil, reference ?? ours == ours,
        payment?.hasSuffix("/payments/\(request.authorization)") ?? true
      else { return another }
      return .pending(Pending(acquirerReference: try name(root.member("action_id"))))
    }
  }

  /// Why a capture, void or refund was answered with 403, by the payment as it is.
  static func notAllowed(
    _ kind: CheckoutComAction, _ request: FollowUpRequest, _ found: CheckoutComConnector.Lookup<CheckoutComPayment>
  ) -> AcquirerAnswer {
    guard case .found(let payment) = found, !payment.allows(kind, request.amount) else {
      return .declined(Decline(reason: .configuration, code: "HTTP 403"))
    }
    return .declined(Decline(reason: payment.isEnded && kind != .refund ? .holdEnded : .other, code: "HTTP 403"))
  }

  /// The answer to `POST /tokens`.
  static func preparation(_ response: Response) -> Preparation {
    let answer = answer(response, 201) { root, _ throws(JSONError) in
      guard try root.member("type").string == "applepay" else { return unknown("a token of another kind") }
      return .pending(Pending(acquirerReference: try name(root.member("token"))))
    }
    return switch answer {
    case .pending(let pending): .ready(pending.acquirerReference)
    case .declined(let decline): .declined(decline)
    case .notSent(let reason): .failed(Interruption(.connectionLost, detail: "not sent: \(reason)"))
    case .unknown(let interruption): .failed(interruption)
    case .approved: .failed(Interruption(.unintelligibleAnswer))
    }
  }

  static func credentials(_ response: Response, _ key: String, accepted: Int) -> CredentialCheck {
    switch response {
    case .failure(let error): .unavailable(error.interruption)
    case .success(let response) where response.status == accepted:
      (try? JSONReader.read(response.body)) == nil
        ? .unavailable(Interruption(.unintelligibleAnswer, detail: "HTTP \(accepted) without JSON")) : .accepted
    case .success(let response) where response.status == 401: .refused("Checkout.com does not know the \(key)")
    case .success(let response) where response.status == 403: .refused("the \(key) has not the scopes that it needs")
    case .success(let response): .unavailable(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }
}

extension CheckoutComAnswers {
  /// A name of Checkout.com's. It becomes part of an address, so it must look like a name.
  static func name(_ field: JSONField) throws(JSONError) -> String {
    let text = try field.string
    guard isName(text) else {
      throw JSONError(.invalid, path: field.path, "not 1 to 64 letters, digits and underscores")
    }
    return text
  }

  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F }
  }

  private static let another = unknown("the answer is about another payment")

  private static func unknown(_ detail: String) -> AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: detail))
  }

  private static func answer(
    _ response: Response, _ expected: Int..., read: (JSONField, Int) throws(JSONError) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    switch response {
    case .failure(.notSent(let reason)): return .notSent(reason)
    case .failure(let error): return .unknown(error.interruption)
    case .success(let response) where expected.contains(response.status):
      do throws(JSONError) {
        return try read(JSONField(try JSONReader.read(response.body)), response.status)
      } catch { return unknown(error.description) }
    case .success(let response): return refusal(response)
    }
  }

  /// A refused call. Nothing was done after 401, 403, 404 and 422. After 429 this request was not done, but another one
  /// under the same key may be: the caller inquires before it repeats. All else may come afterwards.
  private static func refusal(_ response: InboundResponse) -> AcquirerAnswer {
    switch response.status {
    case 401, 403, 404: .declined(Decline(reason: .configuration, code: "HTTP \(response.status)"))
    case 422: invalid(response)
    case 429: .notSent("Checkout.com limits the rate of requests, or processes the same one: HTTP 429")
    default: .unknown(Interruption(.serverError, detail: "HTTP \(response.status)"))
    }
  }

  private static func invalid(_ response: InboundResponse) -> AcquirerAnswer {
    guard let root = try? JSONField(JSONReader.read(response.body)),
      let fields = try? root.member("error_codes").array, !fields.isEmpty
    else { return unknown("HTTP 422 without error codes") }
    return .declined(CheckoutComDeclines.decline(errors: fields.compactMap { try? $0.string }))
  }
}
