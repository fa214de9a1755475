import Acquiring
import Connectors
import HTTPTransport
import TenderPayments

/// `connectors/braintree/…/connector.yaml`; `private-key.secret` is in the same folder.
struct BraintreeFile: Sendable {
  var merchantID = ""
  var publicKey = ""
  var merchantAccounts: [CurrencyAccount] = []
  var capturesInParts = false

  /// `EUR=harbour_eur`
  struct CurrencyAccount: Sendable, Hashable {
    let currency: Currency
    let account: String
  }

  static let table = SettingsTable(
    BraintreeFile(),
    [
      Setting(
        "merchantId", .text("Braintree's name of the merchant", as: "x9c2k7", where: isName), "The merchant id.",
        isRequired: true, get: { $0.merchantID }, set: { $0.merchantID = $1 }),
      Setting(
        "publicKey", .text("the public key", as: "s3nd4bl3", where: isName), "The public key of the API key.",
        isRequired: true, get: { $0.publicKey }, set: { $0.publicKey = $1 }),
      Setting(
        "merchantAccounts", .list(of: .currencyAccount),
        "The merchant account of each currency; of several, the first.",
        isRequired: true, get: { $0.merchantAccounts }, set: { $0.merchantAccounts = $1 }),
      Setting(
        "capturesInParts", .flag, \.capturesInParts,
        "Whether Braintree has enabled multiple partial settlements for the account."),
    ])

  /// It becomes a part of addresses.
  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F || $0 == 0x2D
      }
  }
}

extension SettingType<BraintreeFile.CurrencyAccount> {
  fileprivate static let currencyAccount = one(
    "a currency and its merchant account, as EUR=account", as: "EUR=harbour_eur",
    read: { text in
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, let currency = Currency(code: parts[0]), currency.isMoney else { return nil }
      return BraintreeFile.CurrencyAccount(currency: currency, account: parts[1])
    }, text: { "\($0.currency.code)=\($0.account)" })
}

extension ConnectorFolder {
  func braintree(_ place: ProviderPlace, http: HTTPSender, log: @escaping ExchangeLog) throws
    -> Acquirer
  {
    let file = try settings(BraintreeFile.table)
    var settings = BraintreeSettings(
      environment: place.braintree, merchantID: file.merchantID, publicKey: file.publicKey,
      privateKey: BraintreePrivateKey(try secret("private-key")),
      merchantAccounts: Dictionary(file.merchantAccounts.map { ($0.currency, $0.account) }) { first, _ in first },
      account: route.account)
    settings.furtherAccounts = file.merchantAccounts.filter { settings.merchantAccounts[$0.currency] != $0.account }
      .map { AcquirerCapabilities.MerchantAccount($0.account, currency: $0.currency) }
    settings.capturesInParts = file.capturesInParts
    return .braintree(settings, http: http, log: log)
  }
}

extension ProviderPlace {
  fileprivate var braintree: BraintreeEnvironment {
    switch self {
    case .simulated(let origin): .simulated(origin: origin)
    case .test: .test
    case .live: .live
    }
  }
}
