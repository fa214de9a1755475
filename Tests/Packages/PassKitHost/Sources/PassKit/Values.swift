// Enumerations and option sets. Numbers are Apple's.

public struct PKPaymentNetwork: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }

  public static let amex = PKPaymentNetwork("AmEx")
  public static let bancomat = PKPaymentNetwork("Bancomat")
  public static let bancontact = PKPaymentNetwork("Bancontact")
  public static let bankAxept = PKPaymentNetwork("BankAxept")
  public static let cartesBancaires = PKPaymentNetwork("CartesBancaires")
  public static let chinaUnionPay = PKPaymentNetwork("ChinaUnionPay")
  public static let dankort = PKPaymentNetwork("Dankort")
  public static let discover = PKPaymentNetwork("Discover")
  public static let eftpos = PKPaymentNetwork("Eftpos")
  public static let electron = PKPaymentNetwork("Electron")
  public static let elo = PKPaymentNetwork("Elo")
  public static let girocard = PKPaymentNetwork("Girocard")
  public static let interac = PKPaymentNetwork("Interac")
  public static let JCB = PKPaymentNetwork("JCB")
  public static let mada = PKPaymentNetwork("Mada")
  public static let maestro = PKPaymentNetwork("Maestro")
  public static let masterCard = PKPaymentNetwork("MasterCard")
  public static let mir = PKPaymentNetwork("Mir")
  public static let privateLabel = PKPaymentNetwork("PrivateLabel")
  public static let visa = PKPaymentNetwork("Visa")
  public static let vPay = PKPaymentNetwork("VPay")
}

public struct PKMerchantCapability: OptionSet, Hashable, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let threeDSecure = PKMerchantCapability(rawValue: 1 << 0)
  public static let emv = PKMerchantCapability(rawValue: 1 << 1)
  public static let credit = PKMerchantCapability(rawValue: 1 << 2)
  public static let debit = PKMerchantCapability(rawValue: 1 << 3)
}

public struct PKContactField: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let emailAddress = PKContactField(rawValue: "emailAddress")
  public static let name = PKContactField(rawValue: "name")
  public static let phoneNumber = PKContactField(rawValue: "phoneNumber")
  public static let phoneticName = PKContactField(rawValue: "phoneticName")
  public static let postalAddress = PKContactField(rawValue: "postalAddress")
}

public enum PKPaymentSummaryItemType: UInt, Sendable { case final = 0, pending = 1 }
public enum PKShippingType: UInt, Sendable { case shipping = 0, delivery = 1, storePickup = 2, servicePickup = 3 }
public enum PKShippingContactEditingMode: UInt, Sendable { case available = 1, storePickup = 2 }
public enum PKPaymentMethodType: UInt, Sendable { case unknown = 0, debit, credit, prepaid, store, eMoney }
public enum PKPaymentAuthorizationStatus: Int, Sendable {
  case success = 0, failure, invalidBillingPostalAddress, invalidShippingPostalAddress, invalidShippingContact
  case pinRequired, pinIncorrect, pinLockout
}
