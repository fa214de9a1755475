package import TenderPayments

/// What an operator may do; each role includes the ones before it.
package enum Role: String, Sendable, Hashable, CaseIterable, Codable, Comparable {
  /// Sees everything of the merchant's payments.
  case viewer
  /// Captures, voids and refunds, refunds up to a limit alone.
  case `operator`
  /// Changes the merchant, and without a merchant also users and settings.
  case administrator

  package static func < (left: Role, right: Role) -> Bool {
    (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
  }
}

/// A role at one merchant, or at all of them.
package struct Grant: Sendable, Hashable, Codable {
  /// Nil for every merchant.
  package let merchant: MerchantID?
  package let role: Role

  package init(_ role: Role, of merchant: MerchantID? = nil) { (self.role, self.merchant) = (role, merchant) }
}

/// How much of each currency an operator refunds without a second person, of one payment and within a day. A currency that
/// is not named always needs one.
package struct RefundLimits: Sendable, Hashable {
  private let limits: [Currency: Int64]

  /// Nothing without a second person.
  package static let none = RefundLimits([])

  package init(_ amounts: [Amount]) {
    limits = Dictionary(amounts.map { ($0.currency, $0.minorUnits) }, uniquingKeysWith: max)
  }

  /// - Parameter text: `100.00 EUR, 15000 JPY`; empty for none.
  package init(text: String) throws(MistypedAmount) {
    var amounts: [Amount] = []
    let items = text.split(separator: ",").map { $0.drop { $0 == " " } }
    // `50,00 EUR`: the comma of a number parts it from its currency.
    if items.dropLast().contains(where: { $0.split(whereSeparator: \.isWhitespace).count == 1 }) {
      throw MistypedAmount(text, nil, .comma)
    }
    for item in items {
      let amount = try Amount(typed: String(item), in: nil, least: 0)
      guard amounts.allSatisfy({ $0.currency != amount.currency }) else {
        throw MistypedAmount(String(item), amount.currency, .repeatedCurrency)
      }
      amounts.append(amount)
    }
    self.init(amounts)
  }

  package var text: String {
    amounts.map { "\($0)" }.joined(separator: ", ")
  }

  package var amounts: [Amount] {
    limits.sorted { $0.key.code < $1.key.code }.map { Amount(minorUnits: $0.value, currency: $0.key) }
  }

  package func allow(_ amount: Amount) -> Bool { amount.minorUnits <= limits[amount.currency] ?? 0 }
}

/// A user who may sign in to the back office.
package struct OfficeUser: Sendable, Hashable {
  /// How they sign in: letters, digits, dots, hyphens, `@`; without regard to case.
  package let name: String
  package let grants: [Grant]
  package let limits: RefundLimits
  package let isEnabled: Bool
  /// Whether a password and a generator of one-time codes are set.
  package let isEnrolled: Bool
  /// The provider at which they sign in, and nowhere else; nil for who has password and code.
  package let issuer: String?
  package let createdAt: Timestamp

  /// The highest role at any merchant; nil without one.
  package var highest: Role? { grants.map(\.role).max() }

  /// The role at every merchant; nil without one.
  package var everywhere: Role? { grants.filter { $0.merchant == nil }.map(\.role).max() }

  package func role(of merchant: MerchantID) -> Role? {
    grants.filter { $0.merchant == nil || $0.merchant == merchant }.map(\.role).max()
  }

  /// The merchants whose data they may see; nil for all.
  package var merchants: [MerchantID]? { merchants(as: .viewer) }

  /// The merchants at which they have the role or a higher one; nil for all.
  package func merchants(as role: Role) -> [MerchantID]? {
    everywhere.map { $0 >= role } ?? false ? nil : grants.filter { $0.role >= role }.compactMap(\.merchant)
  }

  /// Whether a refund of the amount needs no second person, if it is the first of the day.
  package func mayRefundAlone(_ amount: Amount, of merchant: MerchantID) -> Bool {
    role(of: merchant) == .administrator || limits.allow(amount)
  }

  /// What a role may do, in words.
  package static func text(_ grants: [Grant], _ limits: RefundLimits) -> String {
    let roles = grants.map { "\($0.role.rawValue) of \($0.merchant?.rawValue ?? "every merchant")" }
    return (roles + (limits == .none ? [] : ["refunds up to \(limits.text)"])).joined(separator: "; ")
  }

  /// 1 to 64 of `a-z 0-9 . - _ @ +`.
  package static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || ".-_@+".utf8.contains(byte)
      }
  }
}
