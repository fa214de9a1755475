import Acquiring
import StrictJSON
import TenderPayments

/// A PaymentIntent, as Stripe's answers and events have it.
struct StripeIntent: Sendable {
  let id: String
  let status: String
  /// What was asked for, in Stripe's units.
  let amount: Amount
  let capturable: Amount
  let received: Amount
  let isLive: Bool
  let metadata: [String: String]
  let cancellationReason: String?
  /// Why the card was declined, if it was.
  let decline: Decline?
  let authorizationCode: String?
  let networkTransactionID: String?
  let createdAt: Timestamp
  let canceledAt: Timestamp?

  init(_ field: JSONField) throws(JSONError) {
    id = try field.stripeName("id", of: "payment_intent")
    status = try field.member("status").string
    amount = try field.stripeAmount
    capturable = try field.memberIfPresent("amount_capturable")?.amount(in: amount.currency) ?? .zero(amount.currency)
    received = try field.memberIfPresent("amount_received")?.amount(in: amount.currency) ?? .zero(amount.currency)
    isLive = try field.member("livemode").bool
    metadata = try field.stripeMetadata
    cancellationReason = try field.memberIfPresent("cancellation_reason")?.string
    decline = try field.memberIfPresent("last_payment_error").map { (error) throws(JSONError) in
      StripeDeclines.decline(
        code: try error.memberIfPresent("code")?.string, declineCode: try error.memberIfPresent("decline_code")?.string)
    }
    // The charge itself where it was asked for, else its name.
    let charge = try field.memberIfPresent("latest_charge")
    let card = try charge?.chargedCard
    authorizationCode = try card?.memberIfPresent("authorization_code")?.string
    networkTransactionID = try card?.memberIfPresent("network_transaction_id")?.string
    createdAt = Timestamp(seconds: try field.member("created").integer)
    canceledAt = try field.memberIfPresent("canceled_at").map { (time) throws(JSONError) in
      Timestamp(seconds: try time.integer)
    }
  }

  /// Nil for an intent of another program on the same account, which is not read any further.
  static func ours(_ field: JSONField) throws(JSONError) -> StripeIntent? {
    try field.stripeMetadata[StripeMessages.reference] == nil ? nil : StripeIntent(field)
  }

  /// Our name of the authorization; nil for an intent that is not ours.
  var reference: AttemptReference? { metadata[StripeMessages.reference].map { AttemptReference($0) } }

  /// Our captures, and what each took. Whoever has the account can write metadata, also what is no amount.
  var captures: [AttemptReference: Amount] {
    let prefix = StripeMessages.capturePrefix
    return metadata.reduce(into: [:]) { captures, member in
      guard member.key.hasPrefix(prefix), let units = Int64(member.value),
        let taken = Amount(received: units, currency: amount.currency)
      else { return }
      captures[AttemptReference(String(member.key.dropFirst(prefix.count)))] = taken
    }
  }

  /// Whether the metadata says captures of ours that cannot be: of nothing or less, or of more than was received.
  var hasImpossibleCaptures: Bool {
    guard captures.values.allSatisfy(\.isPositive), let sum = try? captures.values.total(in: amount.currency) else {
      return true
    }
    return sum.minorUnits > received.minorUnits
  }

  /// What a person captured in the dashboard, or the account by itself; nil where that is nothing.
  var capturedElsewhere: Amount? { rest(of: received, without: Array(captures.values)) }

  /// What no capture has taken.
  var released: Amount { rest(of: amount, without: [received]) ?? .zero(amount.currency) }

  private func rest(of whole: Amount, without parts: [Amount]) -> Amount? {
    let rest = try? whole.subtracting(parts.total(in: whole.currency))
    return rest.flatMap { $0.isPositive ? $0 : nil }
  }

  /// Whether the issuer's hold has ended without a capture: by its age, not by a cancel.
  var isExpired: Bool { ["automatic", "expired"].contains(cancellationReason) }
}

/// A refund, as Stripe's answers and events have it.
struct StripeRefund: Sendable {
  let id: String
  let status: String
  let amount: Amount
  /// The intent that was refunded; nil for a charge without one.
  let intent: String?
  /// Our name of it; nil for a refund that a person made.
  let reference: AttemptReference?
  let failureReason: String?
  /// Whether the account's balance has felt it. What Stripe releases of a hold is a refund too, and it has not.
  let isBooked: Bool
  let createdAt: Timestamp

  init(_ field: JSONField) throws(JSONError) {
    id = try field.stripeName("id", of: "refund")
    status = try field.member("status").string
    amount = try field.stripeAmount
    intent = try field.memberIfPresent("payment_intent") == nil ? nil : field.stripeName("payment_intent")
    reference = try field.stripeMetadata[StripeMessages.reference].map { AttemptReference($0) }
    failureReason = try field.memberIfPresent("failure_reason")?.string
    isBooked = try field.memberIfPresent("balance_transaction") != nil
    createdAt = Timestamp(seconds: try field.member("created").integer)
  }

  /// Nil for a refund of another program's in what is no currency of ISO 4217's.
  static func read(_ field: JSONField) throws(JSONError) -> StripeRefund? {
    guard try field.stripeMetadata[StripeMessages.reference] == nil else { return try StripeRefund(field) }
    guard let currency = Currency(code: try field.member("currency").string.uppercased()), currency.isMoney else {
      return nil
    }
    return try StripeRefund(field)
  }
}

extension JSONField {
  /// A name that Stripe gave. It becomes part of addresses, so it must look like one.
  func stripeName(_ key: String, of object: String? = nil) throws(JSONError) -> String {
    if let object, try member("object").string != object {
      throw JSONError(.invalid, path: path, "not a \(object)")
    }
    let text = try member(key).string
    guard StripeName.isName(text) else { throw JSONError(.invalid, path: path, "\(key) is no name") }
    return text
  }

  /// `amount` and `currency`, in Stripe's units.
  var stripeAmount: Amount {
    get throws(JSONError) {
      let code = try member("currency").string
      guard let currency = Currency(code: code.uppercased()), currency.isMoney else {
        throw JSONError(.invalid, path: path, "no currency")
      }
      return try member("amount").amount(in: currency)
    }
  }

  fileprivate var stripeMetadata: [String: String] {
    get throws(JSONError) {
      var texts: [String: String] = [:]
      for (key, value) in try memberIfPresent("metadata")?.object.members ?? [] {
        if case .string(let text) = value { texts[key] = text }
      }
      return texts
    }
  }

  /// What an expanded charge says of its card; nil for a charge's name.
  fileprivate var chargedCard: JSONField? {
    get throws(JSONError) {
      guard case .object = value else { return nil }
      return try memberIfPresent("payment_method_details")?.memberIfPresent("card")
    }
  }
}
