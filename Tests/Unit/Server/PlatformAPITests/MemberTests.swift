import DirectWire
import Ledger
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

/// Members of Worldline's models that an Apple Pay payment has: `PaymentResponse`, `CaptureResponse` and
/// `RefundResponse` of onlinepayments-sdk-python3 10.3.0, where every member is optional, without those that
/// docs/platform.md says are absent.
@Suite struct `Every member` {
  private static let status = [
    "isAuthorized", "isCancellable", "isRefundable", "statusCategory", "statusCode", "statusCodeChangeDateTime",
  ]
  private static let output =
    money("acquiredAmount") + money("amountOfMoney") + [
      "amountPaid", "merchantParameters", "paymentCreationDate", "paymentMethod", "references.merchantParameters",
      "references.merchantReference", "transactionDate",
    ]
  private static let mobile = [
    "authorisationCode", "network", "paymentData.dpan", "paymentData.expiryDate", "paymentProductId",
  ].map { "mobilePaymentMethodSpecificOutput." + $0 }
  private static let payment =
    ["id", "status"] + status.map { "statusOutput." + $0 } + (output + mobile).map { "paymentOutput." + $0 }
  private static let operation =
    [
      "id", "operationReferences.merchantReference", "paymentMethod", "references.merchantParameters", "status",
      "transactionDate",
    ]
    + money("amountOfMoney") + status.map { "statusOutput." + $0 }
  private static let refund =
    ["id", "status"]
    + ["isCancellable", "statusCategory", "statusCode", "statusCodeChangeDateTime"].map { "statusOutput." + $0 }
    + (money("amountOfMoney") + output.filter { !$0.hasPrefix("a") } + [
      "mobileRefundMethodSpecificOutput.network", "mobileRefundMethodSpecificOutput.totalAmountPaid",
      "mobileRefundMethodSpecificOutput.totalAmountRefunded", "operationReferences.merchantReference",
    ]).map { "refundOutput." + $0 }

  private static func money(_ name: String) -> [String] { ["\(name).amount", "\(name).currencyCode"] }

  private func missing(_ names: [String], in value: JSONValue?) -> [String] {
    names.filter { name in
      name.split(separator: ".").reduce(value) { $0?[String($1)] } == nil
    }
  }

  private static let named = #""operationReferences": {"merchantReference": "O-1"}"#
  private static let money = #""amountOfMoney": {"amount": 100, "currencyCode": "EUR"}, "#

  private func done(_ platform: Platform) async throws -> String {
    let id = try await platform.made()
    _ = try await platform.payments.capture(id, Array("{\"amount\": 500, \(Self.named)}".utf8), platform.call())
    _ = try await platform.payments.refund(id, Array("{\(Self.money)\(Self.named)}".utf8), platform.call())
    return id
  }

  @Test func `of an SDK's model is in the look-up of a payment, an operation, a capture and a refund`() async throws {
    let platform = try await Platform()
    let id = try await done(platform)
    let (payments, shop) = (platform.payments, Platform.merchant)
    #expect(missing(Self.payment, in: try await payments.show(id, of: shop).json) == [])
    let captured = try await payments.show("\(id.dropLast(2))_1", of: shop).json
    #expect(missing(Self.payment + Self.operation.map { "operationOutput." + $0 }, in: captured) == [])
    for answer in try await payments.details(id, of: shop).json["Operations"]?.elements.dropFirst() ?? [] {
      #expect(missing(Self.operation, in: answer) == [])
    }
    let capture = try await payments.captures(id, of: shop).json["captures"]?.elements.first
    let own = (Self.output + Self.mobile + ["operationReferences.merchantReference"]).map { "captureOutput." + $0 }
    #expect(missing(["id", "status", "statusOutput.statusCode"] + own, in: capture) == [])
    #expect(missing(Self.refund, in: try await payments.refunds(id, of: shop).json["refunds"]?.elements.first) == [])
  }

  @Test func `of an SDK's model is in the events too`() async throws {
    let platform = try await Platform()
    _ = try await done(platform)
    let order = NotifiedOrder(
      DirectReferences(merchantReference: "order-1", merchantParameters: "tea"),
      hostedCheckout: HostedCheckoutOutput(hostedCheckoutId: "h", variant: nil))
    let events = try await platform.journal.database.write {
      try OutboxEvent.take(for: .webhooks, payments: 10, in: $0)
    }
    let bodies = try events.map { try JSONReader.read(WebhookBody($0, order: order).bytes) }
    #expect(bodies.count == 4)
    let held = try #require(bodies.first { $0["type"] == "payment.pending_capture" })
    #expect(missing((Self.payment + ["hostedCheckoutSpecificOutput.hostedCheckoutId"]), in: held["payment"]) == [])
    let captured = try #require(bodies.first { $0["type"] == "payment.captured" })
    #expect(missing(Self.payment + Self.operation.map { "operationOutput." + $0 }, in: captured["payment"]) == [])
    let refunded = try #require(bodies.first { $0["type"] == "payment.refunded" })
    #expect(missing(Self.refund, in: refunded["refund"]) == [])
    for body in bodies {
      #expect(missing(["apiVersion", "created", "id", "merchantId", "type"], in: body) == [])
    }
  }
}
