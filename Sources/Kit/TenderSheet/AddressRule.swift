/// One rule of a country's addresses, as a page checks it that has no table of the countries.
///
/// Patterns are regular expressions that ECMAScript and Swift read alike. They regard no case, and the text has no spaces
/// and hyphens; a field that is missing is empty text. What a pattern refuses, the server refuses; what it takes, the
/// server may still refuse.
public struct AddressRule: Sendable, Hashable, Codable {
  /// The country, ISO 3166-1 alpha-2.
  public let countryCode: String
  /// What the error's field has to match in the contact of an authorized payment.
  public let whole: String
  /// What it has to match in the contact that the sheet shows before; nil where that says nothing.
  public let shown: String?
  /// What the sheet shows otherwise.
  public let error: SheetError
}

extension AddressRules {
  /// The rules for a page. That a state may stand for a town is left to the server.
  ///
  /// - Parameter locale: of the errors' texts.
  public func forPage(in locale: ShopperLocale) -> [AddressRule] {
    let parts: [(isNeeded: Bool, ErrorContactField, ShopperText)] = [
      (needsTown, .locality, .enterTown), (needsTown && needsState, .administrativeArea, .enterState),
      (needsPostalCode, .postalCode, .enterPostalCode),
    ]
    let needed = parts.filter(\.isNeeded).map { _, field, text in
      AddressRule(
        countryCode: country, whole: ".", shown: nil, error: .shippingContactInvalid(field, locale.text(text)))
    }
    guard !forms.isEmpty else { return needed }
    let form = AddressRule(
      countryCode: country, whole: pattern { $0.joined() }, shown: pattern(Self.beginning),
      error: .shippingContactInvalid(.postalCode, locale.text(.postalCodeWrong)))
    return needed + [form]
  }

  /// Takes no code at all, the country's letters before it or none, and what has anything but plain letters and digits.
  private func pattern(_ write: ([String]) -> String) -> String {
    let marks = forms.map { $0.map(Self.mark) }
    let bare = forms.filter { Self.agree($0, Array(country)) }.map { $0.dropFirst(country.count).map(Self.mark) }
    let codes = (marks + bare).map(write).joined(separator: "|")
    let areas = AddressTable.britishAreas.sorted().joined(separator: "|")
    let area = country == "GB" ? "(?=(?:\(areas))[0-9]|[^0-9]*$)" : ""
    return "^(?:\(country))?\(area)(?:\(codes))?$|[^A-Z0-9]"
  }

  private static func mark(_ mark: Character) -> String {
    switch mark {
    case "A": "[A-Z]"
    case "9": "[0-9]"
    case "*": "[A-Z0-9]"
    default: String(mark)
    }
  }

  /// Any number of the first marks.
  private static func beginning(_ marks: [String]) -> String {
    marks.reversed().reduce("") { rest, mark in "(?:\(mark)\(rest))?" }
  }
}
