/// A currency of ISO 4217, list one: every active code, with its number and its minor unit.
public struct Currency: Sendable, Hashable {
  /// Three capital letters: `EUR`.
  public let code: String
  /// Three digits with leading zeros, as Apple's payment data carries them: `"978"`, `"036"`.
  public let numericCode: String
  /// The number of decimals of the minor unit. The codes for which ISO 4217 names none (gold, special drawing
  /// rights, testing) are kept, because they are codes, and have no ``Amount``: see ``isMoney``.
  public let exponent: Int
  /// Whether ISO 4217 gives the code a minor unit, so that an amount can be charged in it.
  public let isMoney: Bool

  /// The currency with this alphabetic code, in capitals as ISO 4217 writes it.
  public init?(code: String) {
    guard let currency = Self.byCode[code] else { return nil }
    self = currency
  }

  /// The currency with this numeric code, three digits with leading zeros.
  public init?(numericCode: String) {
    guard let currency = Self.byNumber[numericCode] else { return nil }
    self = currency
  }

  private init(code: String, numericCode: String, exponent: Int?) {
    self.code = code
    self.numericCode = numericCode
    self.exponent = exponent ?? 0
    self.isMoney = exponent != nil
  }

  public static func == (left: Currency, right: Currency) -> Bool { left.code == right.code }
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// Every currency, by code.
  public static let all: [Currency] = table.split(separator: ";").compactMap(row)

  private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
  private static let byNumber = Dictionary(uniqueKeysWithValues: all.map { ($0.numericCode, $0) })

  private static func row(_ text: Substring) -> Currency? {
    let fields = text.split(whereSeparator: \.isWhitespace)
    guard fields.count == 3 else { return nil }
    return Currency(code: String(fields[0]), numericCode: String(fields[1]), exponent: Int(fields[2]))
  }

  /// Alphabetic code, numeric code, exponent; `-` where ISO 4217 says "not applicable".
  private static let table = """
    AED 784 2; AFN 971 2; ALL 008 2; AMD 051 2; AOA 973 2; ARS 032 2; AUD 036 2; AWG 533 2; AZN 944 2;
    BAM 977 2; BBD 052 2; BDT 050 2; BGN 975 2; BHD 048 3; BIF 108 0; BMD 060 2; BND 096 2; BOB 068 2;
    BOV 984 2; BRL 986 2; BSD 044 2; BTN 064 2; BWP 072 2; BYN 933 2; BZD 084 2; CAD 124 2; CDF 976 2;
    CHE 947 2; CHF 756 2; CHW 948 2; CLF 990 4; CLP 152 0; CNY 156 2; COP 170 2; COU 970 2; CRC 188 2;
    CUP 192 2; CVE 132 2; CZK 203 2; DJF 262 0; DKK 208 2; DOP 214 2; DZD 012 2; EGP 818 2; ERN 232 2;
    ETB 230 2; EUR 978 2; FJD 242 2; FKP 238 2; GBP 826 2; GEL 981 2; GHS 936 2; GIP 292 2; GMD 270 2;
    GNF 324 0; GTQ 320 2; GYD 328 2; HKD 344 2; HNL 340 2; HTG 332 2; HUF 348 2; IDR 360 2; ILS 376 2;
    INR 356 2; IQD 368 3; IRR 364 2; ISK 352 0; JMD 388 2; JOD 400 3; JPY 392 0; KES 404 2; KGS 417 2;
    KHR 116 2; KMF 174 0; KPW 408 2; KRW 410 0; KWD 414 3; KYD 136 2; KZT 398 2; LAK 418 2; LBP 422 2;
    LKR 144 2; LRD 430 2; LSL 426 2; LYD 434 3; MAD 504 2; MDL 498 2; MGA 969 2; MKD 807 2; MMK 104 2;
    MNT 496 2; MOP 446 2; MRU 929 2; MUR 480 2; MVR 462 2; MWK 454 2; MXN 484 2; MXV 979 2; MYR 458 2;
    MZN 943 2; NAD 516 2; NGN 566 2; NIO 558 2; NOK 578 2; NPR 524 2; NZD 554 2; OMR 512 3; PAB 590 2;
    PEN 604 2; PGK 598 2; PHP 608 2; PKR 586 2; PLN 985 2; PYG 600 0; QAR 634 2; RON 946 2; RSD 941 2;
    RUB 643 2; RWF 646 0; SAR 682 2; SBD 090 2; SCR 690 2; SDG 938 2; SEK 752 2; SGD 702 2; SHP 654 2;
    SLE 925 2; SOS 706 2; SRD 968 2; SSP 728 2; STN 930 2; SVC 222 2; SYP 760 2; SZL 748 2; THB 764 2;
    TJS 972 2; TMT 934 2; TND 788 3; TOP 776 2; TRY 949 2; TTD 780 2; TWD 901 2; TZS 834 2; UAH 980 2;
    UGX 800 0; USD 840 2; USN 997 2; UYI 940 0; UYU 858 2; UYW 927 4; UZS 860 2; VED 926 2; VES 928 2;
    VND 704 0; VUV 548 0; WST 882 2; XAD 396 2; XAF 950 0; XCD 951 2; XCG 532 2; XOF 952 0; XPF 953 0;
    YER 886 2; ZAR 710 2; ZMW 967 2; ZWG 924 2;
    XAG 961 -; XAU 959 -; XBA 955 -; XBB 956 -; XBC 957 -; XBD 958 -; XDR 960 -; XPD 964 -; XPT 962 -; XSU 994
    -; XTS 963 -; XUA 965 -; XXX 999 -;
    """
}

extension Currency: CustomStringConvertible {
  public var description: String { code }
}

extension Currency: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let code = try container.decode(String.self)
    guard let currency = Currency(code: code), currency.isMoney else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an ISO 4217 currency code")
    }
    self = currency
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(code)
  }
}
