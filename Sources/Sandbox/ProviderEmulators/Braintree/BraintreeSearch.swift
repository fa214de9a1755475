import Storage
import TenderPayments

/// The criteria of a search. All must hold.
struct BraintreeSearch: Sendable {
  private let criteria: [BraintreeElement]

  /// - Throws: 422 for a criterion that is not emulated.
  init(_ body: BraintreeElement?) throws(BraintreeProblem) {
    let known: Set<String> = [
      "order-id", "id", "ids", "status", "type", "merchant-account-id", "amount", "created-at",
    ]
    guard let body, body.name == "search", body.children.allSatisfy({ known.contains($0.name) }) else {
      throw BraintreeProblem(status: 422, message: "the search has a criterion that is not emulated")
    }
    criteria = body.children
  }

  func matches(_ transaction: BraintreeTransaction) -> Bool {
    criteria.allSatisfy { Self.matches(transaction, $0) }
  }

  private static func matches(_ transaction: BraintreeTransaction, _ criterion: BraintreeElement) -> Bool {
    switch criterion.name {
    case "order-id": text(transaction.order ?? "", criterion)
    case "id": text(transaction.id, criterion)
    case "ids": criterion.children.contains { $0.text == transaction.id }
    case "status": criterion.children.contains { $0.text == transaction.status }
    case "type": criterion.children.contains { $0.text == transaction.kind.rawValue }
    case "merchant-account-id": criterion.children.contains { $0.text == transaction.merchantAccount }
    case "amount": isWithin(transaction.amount, criterion) { transaction.units($0) }
    default: isWithin(transaction.createdAt.seconds, criterion) { Timestamp(rfc3339: $0)?.seconds }
    }
  }

  private static func text(_ value: String, _ criterion: BraintreeElement) -> Bool {
    criterion.children.allSatisfy { operation in
      switch operation.name {
      case "is": value == operation.text
      case "is-not": value != operation.text
      case "starts-with": value.hasPrefix(operation.text)
      case "ends-with": value.hasSuffix(operation.text)
      case "contains": value.contains(operation.text)
      default: false
      }
    }
  }

  private static func isWithin(
    _ value: Int64, _ criterion: BraintreeElement, _ read: (String) -> Int64?
  ) -> Bool {
    criterion.children.allSatisfy { operation in
      guard let bound = read(operation.text) else { return false }
      return switch operation.name {
      case "is": value == bound
      case "min": value >= bound
      case "max": value <= bound
      default: false
      }
    }
  }
}

extension BraintreeTransaction {
  fileprivate func units(_ text: String) -> Int64? {
    (try? Amount(decimal: text, currency: currency))?.minorUnits
  }
}

extension BraintreeLedger {
  static let pageSize = 50

  func search(_ search: BraintreeSearch, of account: BraintreeAccount) async throws -> [BraintreeTransaction] {
    try await database.write { store in
      var found: [BraintreeTransaction] = []
      for var transaction in try BraintreeTransaction.all(of: account.merchantID, in: store) {
        if transaction.pass(to: store.now) { try transaction.save(of: account.merchantID, in: store) }
        if search.matches(transaction) { found.append(transaction) }
      }
      return found
    }
  }

  static func ids(_ found: [BraintreeTransaction]) -> BraintreeElement {
    BraintreeElement(
      "search-results",
      [
        BraintreeElement("page-size", "\(pageSize)", type: "integer"),
        BraintreeElement("ids", type: "array", found.map { BraintreeElement("item", $0.id) }),
      ])
  }

  static func page(_ found: [BraintreeTransaction]) -> BraintreeElement {
    BraintreeElement(
      "credit-card-transactions", type: "collection",
      [
        BraintreeElement("current-page-number", "1", type: "integer"),
        BraintreeElement("page-size", "\(pageSize)", type: "integer"),
        BraintreeElement("total-items", "\(found.count)", type: "integer"),
      ] + found.prefix(pageSize).map(\.element))
  }
}
