#if canImport(PassKit)
  public import PassKit
  public import TenderPayments

  extension CardNetwork {
    /// PassKit's name. Networks that are newer than iOS 16 are named by their raw value, so that an app for iOS 16 can
    /// ask for them where they are known; `CardNetwork.isKnown(on:)` says where.
    public var passKit: PKPaymentNetwork {
      switch self {
      case .amex: .amex
      case .bancomat: PKPaymentNetwork(rawValue: "Bancomat")
      case .bancontact: .bancontact
      case .bankAxept: PKPaymentNetwork(rawValue: "BankAxept")
      case .cartesBancaires: .cartesBancaires
      case .chinaUnionPay: .chinaUnionPay
      case .dankort: .dankort
      case .discover: .discover
      case .eftpos: .eftpos
      case .electron: .electron
      case .elo: .elo
      case .girocard: .girocard
      case .interac: .interac
      case .jcb: .JCB
      case .mada: .mada
      case .maestro: .maestro
      case .masterCard: .masterCard
      case .mir: .mir
      case .privateLabel: .privateLabel
      case .visa: .visa
      case .vPay: .vPay
      }
    }
  }
#endif
