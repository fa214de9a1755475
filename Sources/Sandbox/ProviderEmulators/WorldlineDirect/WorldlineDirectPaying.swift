import AcquirerSandbox
import DirectWire
import Storage
import TenderPayments
import TokenIssuer

/// A payment request whose card is known.
struct WorldlineDirectWanted: Sendable {
  let amount: Amount
  let references: DirectReferences?
  /// Whether the money is captured at once: a sale, or an authorization that needs no approval.
  let capturesAtOnce: Bool
  let means: Means
  /// What is refused whatever the card and the amount: an error code of Worldline's.
  let refusal: String?
  let script: ScriptedResponse

  enum Means: Sendable {
    /// - Parameter isRecurring: whether Worldline keeps the card for later payments.
    case card(NetworkToken, isRecurring: Bool)
    /// A later payment of a series.
    case series(WorldlineDirectSeries)
  }
}

extension WorldlineDirectStore {
  /// Authorizes or refuses, and writes the event.
  func pay(
    _ wanted: WorldlineDirectWanted, for account: WorldlineDirectAccount, in transaction: Transaction
  ) throws -> ProviderReply {
    let outcome = try decide(wanted, in: transaction)
    let payment = payment(wanted, outcome, account, at: transaction.now)
    try payment.insert(in: transaction)
    if case .card(let card, isRecurring: true) = wanted.means, payment.errorCode == nil {
      try WorldlineDirectSeries.keep(card.dpan, begunBy: payment, in: transaction)
    }
    try announce(payment, of: account, in: transaction)
    let answer = CreatePaymentAnswer(payment.created)
    guard let code = payment.errorCode else {
      if case .series = wanted.means { return try ProviderReply(201, SubsequentPaymentAnswer(payment.created)) }
      return try ProviderReply(201, answer)
    }
    var error = PlatformError(errorId: random.uuid(), .refused(errorCode: code))
    error.paymentResult = answer
    return try ProviderReply(402, error)
  }

  fileprivate enum Outcome {
    case authorized, waiting, refused(String)
  }

  private func decide(_ wanted: WorldlineDirectWanted, in transaction: Transaction) throws -> Outcome {
    if let refusal = wanted.refusal { return .refused(refusal) }
    if case .card(let card, _) = wanted.means {
      guard try accept(card.cryptogram, of: card.dpan, in: transaction) else { return .refused(Self.errorCode("05")) }
    }
    // The amount that Worldline's test platform refuses.
    if wanted.amount.minorUnits == 1302 { return .refused(Self.errorCode("04")) }
    switch wanted.script.outcome {
    case .approve, .noAnswer, .noAnswerAfterApproval: return .authorized
    case .pending: return .waiting
    case .decline(let code): return .refused(Self.errorCode(code))
    case .approveForLess: return .refused(Self.errorCode("51"))
    }
  }

  /// Worldline's error code for an issuer's answer.
  ///
  /// - Parameter responseCode: ISO 8583 field 39.
  static func errorCode(_ responseCode: String) -> String { "30\(responseCode)1001" }

  private func payment(
    _ wanted: WorldlineDirectWanted, _ outcome: Outcome, _ account: WorldlineDirectAccount, at now: Timestamp
  ) -> WorldlineDirectPayment {
    let (card, suffix, expiry, eci) = wanted.means.shown
    return WorldlineDirectPayment(
      id: newPaymentID(), merchant: account.merchantID, reference: wanted.references?.merchantReference,
      parameters: wanted.references?.merchantParameters, amount: wanted.amount, capturesAtOnce: wanted.capturesAtOnce,
      network: card?.network.rawValue ?? "visa", cardSuffix: suffix, expiry: expiry, eci: eci,
      errorCode: outcome.errorCode, authorizationCode: outcome.errorCode == nil ? random.hex(3).uppercased() : nil,
      createdAt: now, status: outcome.status(wanted.capturesAtOnce), changedAt: now)
  }

  /// Writes the event about operation 0.
  func announce(
    _ payment: WorldlineDirectPayment, of account: WorldlineDirectAccount, in transaction: Transaction
  ) throws {
    let type =
      switch payment.status {
      case .rejected: "rejected"
      case .captured: "captured"
      case .pendingCapture: "pending_capture"
      default: "authorization_requested"
      }
    try write("payment.\(type)", of: account, in: transaction) { $0.payment = payment.created }
  }
}

extension WorldlineDirectWanted.Means {
  /// The wallet's card, and what of it an answer shows.
  fileprivate var shown: (card: SandboxCard?, suffix: String, expiry: String, eci: String?) {
    switch self {
    case .card(let card, _):
      (SandboxCards.card(dpan: card.dpan), card.dpan.lastFour, card.expiry.mmyy, card.eci)
    case .series(let series): (series.card, series.cardSuffix, series.expiry, nil)
    }
  }
}

extension WorldlineDirectStore.Outcome {
  fileprivate var errorCode: String? { if case .refused(let code) = self { code } else { nil } }

  fileprivate func status(_ capturesAtOnce: Bool) -> DirectStatus {
    switch self {
    case .authorized: capturesAtOnce ? .captured : .pendingCapture
    case .waiting: .authorizationWaiting
    case .refused: .rejected
    }
  }
}
