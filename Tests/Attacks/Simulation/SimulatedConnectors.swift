import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

// The connectors whose statements the simulated banks keep. No request of theirs is sent.
extension BankProfile.Conduct {
  var connector: Acquirer {
    switch self {
    case .adyen: Self.sample(.adyen)
    case .braintree: Self.sample(.braintree)
    case .stripe: Self.sample(.stripe)
    case .checkoutCom: Self.sample(.checkoutCom)
    case .worldlineDirect: Self.sample(.worldlineDirect)
    case .worldlineAcquiring: Self.sample(.worldlineAcquiring)
    case .sandbox, .unaskable: Self.withoutInquiry
    }
  }

  private static func sample(_ connector: ConnectorCatalogue) -> Acquirer {
    guard let sample = try? connector.sample() else { preconditionFailure("the samples are constants") }
    return sample
  }

  /// It repeats its first answer to a key.
  private static let withoutInquiry: Acquirer = {
    let week = AcquirerCapabilities.Idempotency.reference(window: .seconds(86_400 * 7))
    return Acquirer(
      capabilities: AcquirerCapabilities(
        name: "unaskable", instruments: [.network, .sealed], idempotency: week, authorizationIdempotency: week,
        inquiry: false, reversal: false, settleHorizon: .seconds(120), holdLifetime: .seconds(86_400 * 7)),
      authorize: { _, _ in .notSent("") }, capture: { _, _ in .notSent("") }, void: { _, _ in .notSent("") },
      refund: { _, _ in .notSent("") }, inquire: { _, _ in .notFound }, reverse: { _, _ in .nothingFound })
  }()
}
