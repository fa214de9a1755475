/// A payment network, in the spelling of Apple Pay JS's `supportedNetworks`.
///
/// What is known of the networks is the table ``known``. Another network reaches the sheet by its name alone, and no
/// connector that has to name it.
public struct CardNetwork: RawRepresentable, Sendable, Hashable, Codable {
  /// The name, such as `masterCard`.
  public let rawValue: String

  /// The network of a name, in any case; `carteBancaire` is an old name of `cartesBancaires`.
  ///
  /// Nil unless the name is 1 to 32 ASCII letters and digits, the first one a letter.
  public init?(rawValue name: String) {
    guard Self.isName(name) else { return nil }
    rawValue = Self.names[name.lowercased()] ?? name
  }

  /// The network of a name that this release knows, in any case; nil for every other name.
  package init?(known name: String) {
    guard let network = CardNetwork(rawValue: name), network.facts != nil else { return nil }
    self = network
  }

  private init(_ name: String) { rawValue = name }

  private static func isName(_ name: String) -> Bool {
    (1...32).contains(name.utf8.count)
      && name.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
      && name.utf8.first.map { $0 > 0x39 } ?? false
  }

  /// Devices and pages do not agree on the case of a name.
  public static func == (left: CardNetwork, right: CardNetwork) -> Bool {
    left.rawValue.lowercased().utf8.elementsEqual(right.rawValue.lowercased().utf8)
  }

  /// Equal for names that differ by case alone.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }
}

extension CardNetwork {
  /// What this release knows of a network.
  public struct Facts: Sendable, Hashable {
    /// The raw value of Apple's `PKPaymentNetwork`, which payment tokens name too.
    public let appleName: String
    /// The version of Apple Pay JS with which it came.
    public let webVersion: Int
    /// The major and minor number of the release of iOS with which it came.
    public let iOSMajor, iOSMinor: Int
  }

  /// Apple's name of the network, or the configuration's where this release knows none.
  public var appleName: String { facts?.appleName ?? rawValue }

  /// What this release knows of the network; nil for a network that the configuration alone names.
  public var facts: Facts? { Self.facts[self] }

  /// The networks that this release knows.
  public static var known: [CardNetwork] { table.map(\.network) }

  private static let table: [(network: CardNetwork, facts: Facts)] = [
    row(.amex, "AmEx", 1, 8), row(.bancomat, "Bancomat", 14, 16), row(.bancontact, "Bancontact", 14, 16),
    row(.bankAxept, "BankAxept", 15, 17, 5), row(.cartesBancaires, "CartesBancaires", 3, 11, 2),
    row(.chinaUnionPay, "ChinaUnionPay", 1, 9, 2), row(.dankort, "Dankort", 13, 15, 1),
    row(.discover, "Discover", 1, 9), row(.eftpos, "Eftpos", 4, 12), row(.electron, "Electron", 4, 12),
    row(.elo, "Elo", 5, 12, 1), row(.girocard, "Girocard", 11, 14), row(.interac, "Interac", 1, 9, 2),
    row(.jcb, "JCB", 2, 10, 1), row(.mada, "Mada", 5, 12, 1), row(.maestro, "Maestro", 4, 12),
    row(.masterCard, "MasterCard", 1, 8), row(.mir, "Mir", 11, 14, 5), row(.privateLabel, "PrivateLabel", 1, 9),
    row(.visa, "Visa", 1, 8), row(.vPay, "VPay", 4, 12),
  ]

  private static func row(
    _ network: CardNetwork, _ appleName: String, _ webVersion: Int, _ iOSMajor: Int, _ iOSMinor: Int = 0
  ) -> (network: CardNetwork, facts: Facts) {
    (network, Facts(appleName: appleName, webVersion: webVersion, iOSMajor: iOSMajor, iOSMinor: iOSMinor))
  }

  private static let facts = Dictionary(uniqueKeysWithValues: table.map { ($0.network, $0.facts) })

  /// The spelling by a name in lower case.
  private static let names = Dictionary(
    uniqueKeysWithValues: known.map { ($0.rawValue.lowercased(), $0.rawValue) }
      + ["cartebancaire", "cartebancaires"].map { ($0, cartesBancaires.rawValue) })
}

extension CardNetwork {
  /// American Express.
  public static let amex = CardNetwork("amex")
  /// Bancomat, Italy.
  public static let bancomat = CardNetwork("bancomat")
  /// Bancontact, Belgium.
  public static let bancontact = CardNetwork("bancontact")
  /// BankAxept, Norway.
  public static let bankAxept = CardNetwork("bankAxept")
  /// Cartes Bancaires, France.
  public static let cartesBancaires = CardNetwork("cartesBancaires")
  /// China UnionPay.
  public static let chinaUnionPay = CardNetwork("chinaUnionPay")
  /// Dankort, Denmark.
  public static let dankort = CardNetwork("dankort")
  /// Discover.
  public static let discover = CardNetwork("discover")
  /// Eftpos, Australia.
  public static let eftpos = CardNetwork("eftpos")
  /// Visa Electron.
  public static let electron = CardNetwork("electron")
  /// Elo, Brazil.
  public static let elo = CardNetwork("elo")
  /// Girocard, Germany.
  public static let girocard = CardNetwork("girocard")
  /// Interac, Canada.
  public static let interac = CardNetwork("interac")
  /// JCB.
  public static let jcb = CardNetwork("jcb")
  /// Mada, Saudi Arabia.
  public static let mada = CardNetwork("mada")
  /// Maestro.
  public static let maestro = CardNetwork("maestro")
  /// Mastercard.
  public static let masterCard = CardNetwork("masterCard")
  /// Mir, Russia.
  public static let mir = CardNetwork("mir")
  /// Cards of one shop.
  public static let privateLabel = CardNetwork("privateLabel")
  /// Visa.
  public static let visa = CardNetwork("visa")
  /// V Pay.
  public static let vPay = CardNetwork("vPay")
}
