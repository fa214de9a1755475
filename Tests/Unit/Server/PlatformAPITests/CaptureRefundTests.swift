import Acquiring
import DirectWire
import Gateway
import PlatformAPI
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// A payment of 12.50, of which 3.00 and 4.00 were captured.
private struct Sale {
  let platform: Platform
  let payment: String

  init(_ acquirer: FakeAcquirer = FakeAcquirer()) async throws {
    platform = try await Platform(acquirer)
    payment = try await String(platform.made().dropLast(2))
    for units in [300, 400] {
      _ = try await platform.payments.capture(payment, Array(#"{"amount": \#(units)}"#.utf8), platform.call())
    }
  }

  /// - Returns: the amount that went back.
  func refund(_ body: String = "", at operation: String = "") async throws -> JSONValue? {
    let answer = try await platform.payments.refund(payment + operation, Array(body.utf8), platform.call())
    return answer.json["refundOutput"]?["amountOfMoney"]?["amount"]
  }

  func refusal(_ body: String, at operation: String = "") async -> PlatformRefusal? {
    await #expect(throws: PlatformRefusal.self) { try await refund(body, at: operation) }
  }

  func named(_ operation: Int, _ rest: String = "") -> String {
    #"{"captureId": "\#(payment)_\#(operation)"\#(rest)}"#
  }
}

@Suite struct `A refund of one capture` {
  private static func money(_ units: Int) -> String {
    #", "amountOfMoney": {"amount": \#(units), "currencyCode": "EUR"}"#
  }

  fileprivate static let single = AcquirerCapabilities(
    name: "single", instruments: [.network], idempotency: .none, refundsOneCapture: true, inquiry: true,
    reversal: true, settleHorizon: .seconds(10))

  @Test(arguments: [false, true])
  func `gives back what that capture took, named in the body or in the address`(isDivided: Bool) async throws {
    func sale() async throws -> Sale { try await Sale(isDivided ? FakeAcquirer(Self.single) : FakeAcquirer()) }
    let (body, address) = (try await sale(), try await sale())
    #expect(try await body.refund(body.named(1)) == 300)
    #expect(try await address.refund(at: "_1") == 300)
    for sale in [body, address] {
      let sent = sale.platform.acquirer
      #expect(sent.refunds.map(\.capture) == sent.captures.prefix(1).map { "A-\($0.reference)" })
      #expect(try await sale.refund() == 400)
    }
  }

  @Test func `gives back in parts no more than is left of it`() async throws {
    let sale = try await Sale()
    #expect(try await sale.refund(sale.named(2, Self.money(150))) == 150)
    await #expect(throws: GatewayError.self) { try await sale.refund(sale.named(2, Self.money(251))) }
    #expect(try await sale.refund(at: "_2") == 250)
    await #expect(throws: GatewayError.self) { try await sale.refund(sale.named(2)) }
    #expect(try await sale.refund(at: "_1") == 300)
  }

  @Test func `gives back no more than is left of the payment`() async throws {
    let sale = try await Sale()
    #expect(try await sale.refund(String("{" + Self.money(600).dropFirst(2) + "}")) == 600)
    #expect(try await sale.refund(at: "_1") == 100)
  }

  @Test func `is refused above what the capture took, and names the amount`() async throws {
    let sale = try await Sale()
    let refusal = await sale.refusal(sale.named(1, Self.money(301)))
    #expect(refusal?.status == 400 && refusal?.faults.first?.propertyName == "amountOfMoney.amount")
    #expect(sale.platform.acquirer.refunds.isEmpty)
  }

  @Test func `is refused where body and address name two captures, or the address none`() async throws {
    let sale = try await Sale()
    #expect(await sale.refusal(sale.named(1), at: "_2")?.faults.first?.propertyName == "captureId")
    #expect(await sale.refusal("", at: "_3")?.status == 404)
    #expect(sale.platform.acquirer.refunds.isEmpty)
    #expect(try await sale.refund(sale.named(2), at: "_2") == 400)
  }
}

/// 5.00 of the payment, where the acquirer refunds one capture at a time: 3.00 of the first and 2.00 of the second.
@Suite struct `A refund of several captures` {
  enum Part: CaseIterable, Sendable {
    case approved, declined, notSent, unknown

    fileprivate var answer: AcquirerAnswer {
      switch self {
      case .approved: FakeAcquirer.approval(AttemptReference("r"))
      case .declined: .declined(Decline(reason: .insufficientFunds, code: "51"))
      case .notSent: .notSent("no route to host")
      case .unknown: .unknown(Interruption(.timeout))
      }
    }
  }

  /// What the merchant learns.
  private struct Told: Equatable {
    var status: Int
    var fault: String?
    var refund: JSONValue?
    var amount: JSONValue?

    init(_ status: Int, _ refund: JSONValue?, _ amount: JSONValue?, fault: String? = nil) {
      (self.status, self.refund, self.amount, self.fault) = (status, refund, amount, fault)
    }

    init(_ status: Int, _ refund: JSONValue?) {
      let output = refund?["statusOutput"]
      self.init(
        status, output?["statusCode"], refund?["refundOutput"]?["amountOfMoney"]?["amount"],
        fault: output?["errors"]?.elements.first?["id"]?.text)
    }

    static func of(_ first: Part, _ second: Part) -> Told {
      let parts = [(first, Int64(300)), (second, 200)]
      let (gone, open) = (parts.filter { $0.0 == .approved }, parts.filter { $0.0 == .unknown })
      let declined = parts.contains { $0.0 == .declined } ? "REFUSED_BY_ISSUER" : nil
      let units = JSONValue.integer((gone + open).reduce(0) { $0 + $1.1 })
      if !open.isEmpty { return Told(201, 82, units, fault: declined) }
      if !gone.isEmpty { return Told(201, 8, units, fault: declined) }
      return declined == nil ? Told(502, nil, nil, fault: "ACQUIRER_UNREACHABLE") : Told(402, 83, 500, fault: declined)
    }
  }

  private func told(_ sale: Sale) async throws -> Told {
    let body = Array(#"{"amountOfMoney": {"amount": 500, "currencyCode": "EUR"}}"#.utf8)
    do {
      let answer = try await sale.platform.payments.refund(sale.payment, body, sale.platform.call("k", body: body))
      let shown = try await sale.platform.payments.show(answer.json["id"]?.text ?? "", of: Platform.merchant).json
      #expect(shown["statusOutput"]?["statusCode"] == answer.json["statusOutput"]?["statusCode"])
      #expect(shown["operationOutput"]?["amountOfMoney"] == answer.json["refundOutput"]?["amountOfMoney"])
      return Told(answer.status, answer.json)
    } catch let refusal as PlatformRefusal {
      guard let result = refusal.refundResult else {
        return Told(refusal.status, nil, nil, fault: refusal.faults.first?.id)
      }
      return Told(refusal.status, try PlatformAnswer(result).json)
    }
  }

  @Test(arguments: Part.allCases, Part.allCases)
  func `is answered by all of them, at first and under its key again`(first: Part, second: Part) async throws {
    let acquirer = FakeAcquirer(`A refund of one capture`.single)
    acquirer.refunds { _, amount in (amount.minorUnits == 300 ? first : second).answer }
    let sale = try await Sale(acquirer)
    for _ in 1...2 { #expect(try await told(sale) == .of(first, second)) }
    #expect(acquirer.refunds.map(\.amount.minorUnits).sorted() == [200, 300])
  }
}
