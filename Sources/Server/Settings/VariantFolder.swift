import Foundation
import HostedCheckout
import Storage

/// The looks of a merchant's hosted pages: `merchants/<id>/hosted/<name>.yaml`, each with its logo beside it.
enum VariantFolder {
  private static let largestLogo = 16_384

  /// - Parameter path: of the merchant's folder.
  /// - Throws: ``ConfigurationError`` for a colour that cannot be read, or a logo that is none.
  static func variants(_ path: String) throws -> [String: HostedVariant] {
    let names = try MerchantFolder.names(in: path + "/hosted", ending: ".yaml")
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try variant("\(path)/hosted/\($0)")) })
  }

  private static func variant(_ file: String) throws -> HostedVariant {
    let table = SettingsTable.variant
    var (variant, _) = try table.read([table.file(file + ".yaml")])
    if let fault = variant.fault { throw ConfigurationError(file + ".yaml", fault) }
    variant.logo = try logo(file)
    return variant
  }

  private static func logo(_ file: String) throws -> HostedVariant.Logo? {
    for (ending, type) in [("svg", "image/svg+xml"), ("png", "image/png")] {
      guard let data = FileManager.default.contents(ofFile: "\(file).\(ending)") else { continue }
      guard data.count <= largestLogo else {
        throw ConfigurationError("\(file).\(ending)", "the logo is larger than \(largestLogo / 1_024) KiB")
      }
      return HostedVariant.Logo(bytes: Array(data), mediaType: type)
    }
    return nil
  }
}

extension SettingsTable where Target == HostedVariant {
  /// The settings of `hosted/<name>.yaml`.
  static let variant = SettingsTable(
    HostedVariant(),
    [
      Setting(
        "name", .text("a name of at most 64 characters", as: "Harbour", where: { $0.count <= 64 }), \.name,
        "In place of the merchant's name."),
      Setting("header", .colour, \.header, "The band at the top; its text is black or white, whichever reads better."),
      Setting("accent", .colour, \.accent, "Buttons and links; at least 4.5 to 1 with the page."),
      Setting("accentDark", .colour, \.accentInDark, "The same in dark surroundings."),
    ])
}

extension SettingType<Colour> {
  fileprivate static let colour = one(
    "a colour as # and six hexadecimal digits", as: "\"#0b5a66\"", read: { Colour($0) }, text: { "\"\($0)\"" })
}
