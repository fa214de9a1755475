import TenderPayments
import TenderSheet

/// How a country writes its postal codes: `A` for a letter, `9` for a digit, `*` for either,
/// anything else for itself.
///
/// Spaces and hyphens are ignored, because shoppers write them inconsistently. Countries that are not in the table
/// accept every code; the server decides.
public struct PostalCodeShape: Sendable, Hashable {
  /// Alternatives, without spaces and hyphens.
  private let shapes: [String]

  /// The shapes of a country; nil when the table lacks it.
  public init?(country: String) {
    guard let shapes = Self.table[country.uppercased()] else { return nil }
    self.shapes = shapes
  }

  /// Whether a whole code has one of the shapes.
  public func fits(_ code: String) -> Bool {
    let letters = Self.letters(code)
    return shapes.contains { $0.count == letters.count && Self.agree($0, letters) }
  }

  /// Whether a redacted code, of which only the beginning is known, can have one of the shapes.
  public func canBegin(_ code: String) -> Bool {
    let letters = Self.letters(code)
    return shapes.contains { $0.count >= letters.count && Self.agree($0, letters) }
  }

  private static func letters(_ code: String) -> [Character] {
    code.uppercased().filter { $0 != " " && $0 != "-" && $0 != "\u{00a0}" }.map { $0 }
  }

  private static func agree(_ shape: String, _ letters: [Character]) -> Bool {
    zip(shape, letters).allSatisfy { mark, letter in
      switch mark {
      case "A": letter.isASCII && letter.isLetter
      case "9": letter.isASCII && letter.isNumber
      case "*": letter.isASCII && (letter.isLetter || letter.isNumber)
      default: letter == mark
      }
    }
  }

  private static let table: [String: [String]] = Dictionary(
    uniqueKeysWithValues: text.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ").map(String.init)
      return words.first.map { ($0, Array(words.dropFirst())) }
    })

  /// Country, then its shapes. Source: the national posts' rules as the Universal Postal Union lists them.
  private static let text = """
    AD AD999
    AR 9999 A9999AAA
    AT 9999
    AU 9999
    BE 9999
    BG 9999
    BR 99999999
    CA A9A9A9
    CH 9999
    CL 9999999
    CN 999999
    CY 9999
    CZ 99999
    DE 99999
    DK 9999
    EE 99999
    ES 99999
    FI 99999
    FO 999
    FR 99999
    GB A99AA A999AA AA99AA AA999AA A9A9AA AA9A9AA
    GG AA99AA AA999AA
    GL 9999
    GR 99999
    HR 99999
    HU 9999
    IE A99**** A9W****
    IL 9999999 99999
    IM AA99AA AA999AA
    IN 999999
    IS 999
    IT 99999
    JE AA99AA AA999AA
    JP 9999999
    KR 99999
    LI 9999
    LT 99999 LT99999
    LU 9999
    LV 9999 LV9999
    MC 99999
    MT AAA9999 AAA999
    MX 99999
    MY 99999
    NL 9999AA
    NO 9999
    NZ 9999
    PH 9999
    PL 99999
    PT 9999999
    RO 999999
    SE 99999
    SG 999999
    SI 9999 SI9999
    SK 99999
    SM 99999
    TH 99999
    TR 99999
    TW 999 99999 999999
    UA 99999
    US 99999 999999999
    VA 99999
    ZA 9999
    """
}
