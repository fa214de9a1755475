import StrictJSON
import TenderPayments

// How Checkout.com describes a payment, in answers, lists and events.
extension CheckoutComPayment {
  /// The answer 201 to `POST /payments`.
  func answer(_ action: CheckoutComAction) -> JSONValue {
    var answer: JSONObject = [
      "id": .string(id), "action_id": .string(action.id), "amount": .integer(action.value),
      "currency": .string(amount.currency.code), "approved": .bool(isApproved), "status": .string(status),
      "response_code": .string(responseCode),
      "response_summary": .string(CheckoutComResponseCode.summary(responseCode)), "risk": ["flagged": false],
      "source": sourceJSON, "processed_on": .string(createdAt.description), "_links": links,
    ]
    answer["auth_code"] = authorizationCode.map(JSONValue.string)
    answer["scheme_id"] = schemeID.map(JSONValue.string)
    answer["reference"] = reference.map(JSONValue.string)
    return .object(answer)
  }

  /// The answer 202.
  var pendingAnswer: JSONValue {
    var answer: JSONObject = ["id": .string(id), "status": "Pending", "_links": links]
    answer["reference"] = reference.map(JSONValue.string)
    return .object(answer)
  }

  /// An entry of a list, or one payment's details.
  ///
  /// - Parameter actions: nil in lists.
  func details(_ actions: [CheckoutComAction]? = nil) -> JSONValue {
    var details: JSONObject = [
      "id": .string(id), "requested_on": .string(createdAt.description), "source": sourceJSON,
      "amount": .integer(amount.value), "currency": .string(amount.currency.code), "payment_type": "Regular",
      "status": .string(status), "approved": .bool(isApproved), "balances": balances,
      "processing_channel_id": .string(channel), "_links": links,
    ]
    details["reference"] = reference.map(JSONValue.string)
    details["scheme_id"] = schemeID.map(JSONValue.string)
    details["actions"] = actions.map { .array($0.map(\.summary)) }
    return .object(details)
  }

  /// The part `data` of an event about an action.
  func eventData(_ action: CheckoutComAction) -> JSONObject {
    let code = action.responseCode ?? ""
    var data: JSONObject = [
      "id": .string(id), "action_id": .string(action.id), "amount": .integer(action.value),
      "currency": .string(amount.currency.code), "response_code": .string(code),
      "response_summary": .string(CheckoutComResponseCode.summary(code)), "balances": balances,
      "processed_on": .string((action.processedAt ?? createdAt).description), "source": sourceJSON,
    ]
    data["reference"] = (action.reference ?? reference).map(JSONValue.string)
    data["metadata"] = action.metadata.map(JSONValue.object)
    if action.kind == .authorization {
      data["auth_code"] = authorizationCode.map(JSONValue.string)
      data["scheme_id"] = schemeID.map(JSONValue.string)
    }
    return data
  }

  private var sourceJSON: JSONValue {
    var json: JSONObject = [
      "type": source == "network_token" ? .string(source) : "card", "scheme": .string(scheme),
      "last4": .string(cardSuffix),
    ]
    json["id"] = instrument.map(JSONValue.string)
    return .object(json)
  }

  private var balances: JSONValue {
    [
      "total_authorized": .integer(authorized), "total_voided": .integer(state == .voided ? authorized : 0),
      "available_to_void": .integer(available), "total_captured": .integer(captured),
      "available_to_capture": .integer(available), "total_refunded": .integer(refunded),
      "available_to_refund": .integer(captured - refunded),
    ]
  }

  private var links: JSONValue {
    let address = "https://api.sandbox.checkout.com/payments/\(id)"
    return ["self": ["href": .string(address)], "actions": ["href": .string(address + "/actions")]]
  }
}

extension CheckoutComAction {
  fileprivate var summary: JSONValue {
    let code = responseCode ?? ""
    return [
      "id": .string(id), "type": .string(kind.rawValue), "response_code": .string(code),
      "response_summary": .string(CheckoutComResponseCode.summary(code)),
    ]
  }

  /// An entry of `GET /payments/{id}/actions`.
  func entry(of payment: CheckoutComPayment) -> JSONValue {
    let code = responseCode ?? ""
    var entry: JSONObject = [
      "id": .string(id), "type": .string(kind.rawValue), "amount": .integer(value), "approved": .bool(isApproved),
      "response_code": .string(code), "response_summary": .string(CheckoutComResponseCode.summary(code)),
      "processed_on": .string((processedAt ?? payment.createdAt).description),
    ]
    entry["reference"] = reference.map(JSONValue.string)
    entry["metadata"] = metadata.map(JSONValue.object)
    if kind == .authorization { entry["auth_code"] = payment.authorizationCode.map(JSONValue.string) }
    return .object(entry)
  }

  /// The answer 202 to a capture, void or refund.
  var acceptance: JSONValue {
    var answer: JSONObject = ["action_id": .string(id)]
    answer["reference"] = reference.map(JSONValue.string)
    answer["_links"] = ["payment": ["href": .string("https://api.sandbox.checkout.com/payments/\(payment)")]]
    return .object(answer)
  }
}
