import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// A clock that a test advances.
final class ManualTime: Sendable {
  private let time = Mutex(Timestamp(seconds: 1_000))

  var now: Timestamp { time.withLock { $0 } }

  /// This clock wakes no task: `pass` calls what is due.
  var clock: SheetClock {
    SheetClock(now: { self.now }, sleep: { _ in try? await Task.sleep(for: TestRun.whole) })
  }

  /// Advances from one due moment to the next, until `span` has passed.
  func pass(_ span: Duration, in conversation: SheetConversation) async {
    let end = now.adding(span)
    while let next = await conversation.nextMoment, next <= end {
      time.withLock { $0 = max($0, next) }
      await conversation.tick()
    }
    time.withLock { $0 = end }
  }
}

/// A server that answers when the test decides. A cancelled call is removed.
final class HeldServer: Sendable {
  struct Held: Sendable {
    let id: Int
    let call: CheckoutCall
    let answer: CheckedContinuation<Result<CheckoutReply, CheckoutInterruption>, Never>
  }

  private struct State {
    var held: [Held] = []
    var log: [CheckoutCall] = []
    /// Cancelled calls, possibly before they were held.
    var abandoned: Set<Int> = []
    var made = 0
  }

  private let state = Mutex(State())

  var transport: CheckoutTransport {
    CheckoutTransport { call, _ async throws(CheckoutInterruption) in
      let id = self.state.withLock { state in
        state.made += 1
        return state.made
      }
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { self.hold(Held(id: id, call: call, answer: $0)) }
      } onCancel: {
        self.abandon(id)
      }
      return try result.get()
    }
  }

  private func hold(_ call: Held) {
    let isAbandoned = state.withLock { state in
      state.log.append(call.call)
      if state.abandoned.contains(call.id) { return true }
      state.held.append(call)
      return false
    }
    if isAbandoned { call.answer.resume(returning: .failure(.lost)) }
  }

  private func abandon(_ id: Int) {
    let call = state.withLock { state in
      state.abandoned.insert(id)
      return state.held.firstIndex { $0.id == id }.map { state.held.remove(at: $0) }
    }
    call?.answer.resume(returning: .failure(.lost))
  }

  /// Every call made.
  var calls: [CheckoutCall] { state.withLock { $0.log } }

  /// The oldest unanswered call of a kind, once it is there.
  func next(_ kind: String) async throws -> Held {
    let held = try await waitFor("a call of \(kind)") {
      take(kind)
    } until: {
      $0 != nil
    }
    return try #require(held)
  }

  private func take(_ kind: String) -> Held? {
    state.withLock { state in
      state.held.firstIndex { $0.call.kind == kind }.map { state.held.remove(at: $0) }
    }
  }

  /// Answers the next call of a kind.
  func answer(_ kind: String, _ status: Int = 200, _ body: JSONValue = [:]) async throws {
    try await next(kind).answer.resume(returning: .success(CheckoutReply(status: status, body: body.serialized())))
  }

  func lose(_ kind: String, _ interruption: CheckoutInterruption = .lost) async throws {
    try await next(kind).answer.resume(returning: .failure(interruption))
  }

  func refuse(_ kind: String, _ status: Int, _ code: String, _ errors: [JSONValue] = []) async throws {
    try await answer(kind, status, Wire.problem(status, code, errors))
  }
}

extension CheckoutCall {
  /// As transcripts name it.
  var kind: String {
    switch (method, path) {
    case (.post, "/applepay/validate"): "merchant-session"
    case (.post, "/applepay/payment"): "pay"
    case (.delete, _): "cancel"
    case (.get, _) where path.contains("/payment/"): "outcome"
    case (.post, _) where path.hasSuffix("/update"): "update"
    case (.put, _): "details"
    case (.get, _) where path.contains("/basket/"): "sheet"
    default: path
    }
  }

  var json: JSONValue { body.flatMap { try? JSONReader.read($0) } ?? .null }
}

/// What the server writes.
enum Wire {
  static func problem(_ status: Int, _ code: String, _ errors: [JSONValue] = []) -> JSONValue {
    [
      "title": "Refused", "status": .integer(Int64(status)), "code": .string(code), "detail": "For the integrator.",
      "errors": .array(errors), "requestId": "r1",
    ]
  }

  static func error(_ code: String, _ field: String?) -> JSONValue {
    var error: JSONObject = ["code": .string(code), "message": ""]
    error["contactField"] = field.map(JSONValue.string)
    return .object(error)
  }

  static func payment(_ status: String = "captured", amount: String = "12.50") -> JSONValue {
    [
      "orderId": "order-1", "paymentId": "payment-1", "status": .string(status), "guestToken": "guest",
      "transactionIdentifier": "5a5a", "card": "Visa 0492", "cardNetwork": "Visa", "cardType": "debit",
      "receipt": ["amount": .string(amount), "currency": "EUR", "merchantReference": "R-1"],
    ]
  }

  static func update(
    _ quote: String, total: String, methods: [(String, String)]? = nil, errors: [JSONValue] = []
  ) -> JSONValue {
    var update: JSONObject = ["newTotal": ["label": "Trattoria", "amount": .string(total)], "newLineItems": []]
    update["newShippingMethods"] = methods.map { list in
      .array(list.map { ["identifier": .string($0.0), "label": .string($0.0), "detail": "", "amount": .string($0.1)] })
    }
    if !errors.isEmpty { update["errors"] = .array(errors) }
    return ["quoteId": .string(quote), "update": .object(update)]
  }

  static func sheet(_ basket: String, quote: String, shippingType: String = "delivery") -> JSONValue {
    [
      "basketId": .string(basket), "quoteId": .string(quote), "applePayVersion": 14,
      "request": [
        "countryCode": "IE", "currencyCode": "EUR", "supportedNetworks": ["visa", "masterCard", "bankAxept"],
        "merchantCapabilities": ["supports3DS"], "total": ["label": "Trattoria", "amount": "12.50"],
        "requiredShippingContactFields": ["postalAddress", "name", "phone", "email"],
        "shippingType": .string(shippingType), "applicationData": "AQID", "supportsCouponCode": true,
      ],
    ]
  }
}

/// A sheet that a test controls.
final class HeldSheet: Sendable {
  private struct State {
    var conversation: SheetConversation?
    var opening: SheetOpening?
    var presented = 0
    var dismissed = 0
    var shown: CheckedContinuation<Bool, Never>?
  }

  private let state = Mutex(State())
  /// Whether showing waits for `decide`.
  private let isHeld: Bool

  init(isHeld: Bool = false) { self.isHeld = isHeld }

  var sheet: PaymentSheet {
    PaymentSheet(
      present: { opening, conversation in
        await withCheckedContinuation { waiting in
          self.state.withLock { state in
            state.conversation = conversation
            state.opening = opening
            state.presented += 1
            if self.isHeld { state.shown = waiting } else { waiting.resume(returning: true) }
          }
        }
      },
      dismiss: { self.state.withLock { $0.dismissed += 1 } })
  }

  var presented: Int { state.withLock { $0.presented } }
  var dismissed: Int { state.withLock { $0.dismissed } }
  var opening: SheetOpening? { state.withLock { $0.opening } }

  /// The device shows the sheet, or refuses.
  func decide(_ isShown: Bool) {
    state.withLock { state in
      state.shown?.resume(returning: isShown)
      state.shown = nil
    }
  }

  /// The conversation, once the sheet is shown.
  func opened() async throws -> SheetConversation {
    let conversation = try await waitFor("the sheet") {
      state.withLock { $0.conversation }
    } until: {
      $0 != nil
    }
    return try #require(conversation)
  }
}

extension PaymentDevice {
  /// A phone with a wallet.
  static func phone(
    _ platform: Platform = .iOS(PlatformVersion(18)), canPay: Bool = true, networks: Set<CardNetwork> = [.visa],
    kinds: Set<MerchantCapability> = [.supportsCredit, .supportsDebit], hasWallet: Bool = true,
    available: [CardNetwork] = []
  ) -> PaymentDevice {
    PaymentDevice(
      platform: platform, canMakePayments: { canPay },
      hasCard: { wanted, capabilities in
        let wantedKinds = Set(capabilities).intersection([.supportsCredit, .supportsDebit])
        return !networks.isDisjoint(with: wanted) && (wantedKinds.isEmpty || !wantedKinds.isDisjoint(with: kinds))
      },
      canOpenWallet: { hasWallet }, openWallet: {}, availableNetworks: { available })
  }
}

enum Sample {
  static let merchant = MerchantConfiguration(
    merchantIdentifier: "merchant.com.example.trattoria", networks: [.visa, .masterCard, .bankAxept])
  static let basket = BasketID("b0123456789abcdef0123456789abcdef")
  static let ada = FullContact(
    givenName: "Ada", familyName: "Sandford", phoneNumber: "+442079460123", emailAddress: "ada@example.com",
    addressLines: ["12 Sandbox Street"], locality: "London", postalCode: "EC1A 1BB", country: "United Kingdom",
    countryCode: "gb")

  static func eur(_ minorUnits: Int64) throws -> Amount {
    Amount(minorUnits: minorUnits, currency: try #require(Currency(code: "EUR")))
  }

  static func sheet(_ quote: String = "q1", _ service: ServiceType = .delivery) throws -> PreparedSheet {
    let answer = try StrictJSONDecoder().decode(
      BasketSheetAnswer.self,
      from: Wire.sheet(basket.rawValue, quote: quote, shippingType: service.shippingType?.rawValue ?? "shipping"))
    return PreparedSheet(basket: basket, quote: answer.quoteId, request: answer.request)
  }

  static func payment(_ contact: FullContact? = ada, data: String = #"{"version":"EC_v1"}"#) -> AuthorizedPayment {
    AuthorizedPayment(
      paymentData: Array(data.utf8), transactionIdentifier: "t1", displayName: "Visa 0492", network: "Visa",
      methodType: .debit, shippingContact: contact)
  }
}
