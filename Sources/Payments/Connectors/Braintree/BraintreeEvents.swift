import Acquiring
import Crypto
import TenderPayments

/// Braintree's webhooks: a form of `bt_signature` and `bt_payload`.
///
/// The signature is `public key|hex`, possibly several, joined by `&`: an HMAC-SHA1 of the payload's text under the
/// SHA-1 of the private key. The payload is base64 of an XML notification. Source: Braintree's server libraries.
/// Braintree states no age at which a webhook is too old, and gives it no id: its kind and its subject are its name.
struct BraintreeEvents: Sendable {
  let settings: BraintreeSettings

  func read(_ event: InboundEvent) throws(EventRefusal) -> EventBatch {
    guard let signature = Self.field("bt_signature", of: event.body),
      let payload = Self.field("bt_payload", of: event.body), isAuthentic(signature, payload)
    else { throw .notAuthentic }
    let text = payload.filter { $0 != "\n" && $0 != "\r\n" }
    guard let bytes = Base64.decode(text), let document = try? BraintreeXML.read(bytes),
      let batch = try? batch(document)
    else { throw .unintelligible }
    return batch
  }

  /// `bt_challenge` of the address: 20 to 32 hexadecimal digits, signed with the private key.
  func answerChallenge(_ query: String) -> Acknowledgement? {
    guard let challenge = Self.field("bt_challenge", of: query.utf8), (20...32).contains(challenge.utf8.count),
      challenge.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    let code = HMAC<Insecure.SHA1>.authenticationCode(for: Array(challenge.utf8), using: key)
    return Acknowledgement(contentType: "text/plain", body: "\(settings.publicKey)|\(Hex.encode(Array(code)))")
  }

  private var key: SymmetricKey {
    SymmetricKey(data: Array(Insecure.SHA1.hash(data: Array(settings.privateKey.revealed.utf8))))
  }

  /// Some senders sign the payload with the line break that ends it and send it without.
  private func isAuthentic(_ signature: String, _ payload: String) -> Bool {
    guard let stated = stated(signature), payload.utf8.allSatisfy(Self.isPayload) else { return false }
    return ["", "\n"].contains { end in
      HMAC<Insecure.SHA1>.isValidAuthenticationCode(
        stated, authenticating: Array((payload + end).utf8), using: key)
    }
  }

  /// The signature beside our public key.
  private func stated(_ signature: String) -> [UInt8]? {
    let mark = Array("\(settings.publicKey)|".utf8)
    let stated = signature.utf8.split(separator: UInt8(ascii: "&")).first { $0.starts(with: mark) }
    return stated.flatMap { Hex.decode(String(decoding: $0.dropFirst(mark.count), as: UTF8.self)) }
  }

  private static func isPayload(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || [0x2B, 0x2F, 0x3D, 0x0A].contains(byte)
  }

  /// The value of a field of `application/x-www-form-urlencoded`, found by the bytes of its name. A name that occurs
  /// twice has none, because either value may be the signed one.
  private static func field(_ name: String, of form: some Collection<UInt8>) -> String? {
    let named = form.split(separator: UInt8(ascii: "&")).filter { $0.starts(with: Array("\(name)=".utf8)) }
    guard named.count == 1, let field = named.first else { return nil }
    return decoded(field.dropFirst(name.utf8.count + 1))
  }

  private static func decoded(_ field: some Collection<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(field)[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(0x20)
      case UInt8(ascii: "%"):
        guard let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)), value.count == 1 else {
          return nil
        }
        bytes += value
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension BraintreeEvents {
  private func batch(_ document: BraintreeXML) throws(BraintreeXMLError) -> EventBatch {
    guard document.name == "notification" else { throw BraintreeXMLError("not a notification") }
    let kind = try document.text("kind")
    if let merchant = try document.textIfPresent("source-merchant-id"), merchant != settings.merchantID {
      return .of(merchant)
    }
    let events = try events(kind, document)
    return events.isEmpty ? .nothing : EventBatch(events: events)
  }

  /// None for a kind that says nothing of money of one payment: a check, a disbursement, a dispute's paperwork.
  private func events(_ kind: String, _ document: BraintreeXML) throws(BraintreeXMLError) -> [AcquirerEvent] {
    switch kind {
    case "transaction_settled", "transaction_settlement_declined", "refund_failed":
      return try transactionEvent(kind, try document.child("subject").child("transaction"))
    case "dispute_opened", "dispute_lost", "dispute_accepted", "dispute_auto_accepted", "dispute_expired":
      return try disputeEvent(.chargeback, try document.child("subject").child("dispute"))
    case "dispute_won": return try disputeEvent(.chargebackReversed, try document.child("subject").child("dispute"))
    default: return []
    }
  }

  /// What a person did in the control panel no operation of ours asked for.
  private func transactionEvent(
    _ kind: String, _ element: BraintreeXML
  ) throws(BraintreeXMLError) -> [AcquirerEvent] {
    let transaction = try BraintreeTransaction(element)
    let amount = try amount(transaction.amount, transaction.currency)
    let content: AcquirerEvent.Content
    switch kind {
    case "refund_failed": content = .movement(.refundReturned)
    case "transaction_settled" where transaction.isSettledByPerson:
      content = .movement(transaction.kind == .credit ? .refund : .capture)
    default: content = Self.content(kind, BraintreeAnswers(settings: settings).movement(transaction))
    }
    if case .answer(.unknown(let interruption)) = content { throw BraintreeXMLError(interruption.detail) }
    return [
      AcquirerEvent(
        id: "\(kind):\(transaction.id)", subject: transaction.subject(of: content), amount: amount, content: content,
        name: transaction.id)
    ]
  }

  /// What was submitted for settlement counts as done, and has come back when the settlement is declined.
  private static func content(_ kind: String, _ answer: AcquirerAnswer) -> AcquirerEvent.Content {
    if kind == "transaction_settlement_declined", case .declined(let decline) = answer {
      .returned(decline)
    } else {
      .answer(answer)
    }
  }

  /// The money goes back when the dispute opens, and comes again when it is won. Every kind by which it is gone for good
  /// has the name of the opening, so that it is booked once, also if the opening was never received.
  private func disputeEvent(
    _ movement: MoneyMovement, _ element: BraintreeXML
  ) throws(BraintreeXMLError) -> [AcquirerEvent] {
    // A retrieval is a question; it moves nothing.
    guard try element.text("kind") != "retrieval" else { return [] }
    let currency = try BraintreeTransaction.currency(try element.text("currency-iso-code"))
    let disputed = try element.textIfPresent("amount-disputed")
    let won = movement == .chargebackReversed ? try element.textIfPresent("amount-won") : nil
    let whole = try element.text("amount")
    let id = try BraintreeTransaction.name(try element.text("id"))
    let sale = try BraintreeTransaction.name(try element.child("transaction").text("id"))
    return [
      AcquirerEvent(
        id: "\(movement.rawValue):\(id)", subject: .authorization(sale),
        amount: try amount(won ?? disputed ?? whole, currency),
        content: .movement(movement), name: id)
    ]
  }

  private func amount(_ text: String, _ currency: Currency) throws(BraintreeXMLError) -> Amount {
    guard let amount = BraintreeMessages(settings: settings).amount(text, currency), amount.isPositive else {
      throw BraintreeXMLError("amount is no amount of its currency")
    }
    return amount
  }
}

extension BraintreeTransaction {
  /// Whether a person submitted it for settlement in the control panel.
  fileprivate var isSettledByPerson: Bool {
    history.last { $0.status == "submitted_for_settlement" }?.source == "control_panel"
  }

  /// Parts and refunds of ours bear our reference as their order id; a capture of all is the authorization's own
  /// transaction. A refund that a person made copies the order id of its sale.
  fileprivate func subject(of content: AcquirerEvent.Content) -> AcquirerEvent.Subject {
    switch content {
    case .movement: .authorization(refunded ?? authorization ?? id)
    case .answer, .returned:
      if let order, kind == .credit || authorization != nil {
        .operation(AttemptReference(order))
      } else {
        .acquirerOperation(id)
      }
    }
  }
}
