import Foundation

/// A look of the page: colours, logo, name.
package struct HostedVariant: Sendable, Hashable {
  package static let plain = HostedVariant()

  /// In place of the merchant's name; nil for that.
  package var name: String?
  /// The colour of the band at the top.
  package var header: Colour?
  /// The colours of buttons and links in light and in dark surroundings.
  package var accent: Colour?
  package var accentInDark: Colour?
  package var logo: Logo?

  package init(
    name: String? = nil, header: Colour? = nil, accent: Colour? = nil, accentInDark: Colour? = nil, logo: Logo? = nil
  ) {
    self.name = name
    self.header = header
    self.accent = accent
    self.accentInDark = accentInDark
    self.logo = logo
  }

  /// A picture that the server holds, so that the page loads nothing from elsewhere.
  package struct Logo: Sendable, Hashable {
    package let bytes: [UInt8]
    package let mediaType: String

    package init(bytes: [UInt8], mediaType: String) {
      self.bytes = bytes
      self.mediaType = mediaType
    }
  }

  /// Why the look would be hard to read; nil when it is not. WCAG 2.2 asks for 4.5 to 1 of text.
  package var fault: String? {
    let pairs = [
      ("accent", accent, [Self.lightPage, Self.lightSurface]),
      ("accentDark", accentInDark, [Self.darkPage, Self.darkSurface]),
    ]
    for case (let name, let colour?, let grounds) in pairs {
      guard let least = grounds.map({ colour.contrast(with: $0) }).min(), least < 4.5 else { continue }
      let tenths = Int((least * 10).rounded(.down))
      return "\(name) \(colour) has a contrast of \(tenths / 10).\(tenths % 10) to 1 with the page; 4.5 is the least"
    }
    return nil
  }

  // The grounds of `tokens.css`.
  private static let lightPage = Colour(red: 0xF6, green: 0xF7, blue: 0xF8)
  private static let lightSurface = Colour(red: 0xFF, green: 0xFF, blue: 0xFF)
  private static let darkPage = Colour(red: 0x11, green: 0x14, blue: 0x16)
  private static let darkSurface = Colour(red: 0x1A, green: 0x1E, blue: 0x21)
}

/// A colour of sRGB: `#0b5a66`.
package struct Colour: Sendable, Hashable, CustomStringConvertible {
  private let red: UInt8
  private let green: UInt8
  private let blue: UInt8

  init(red: UInt8, green: UInt8, blue: UInt8) { (self.red, self.green, self.blue) = (red, green, blue) }

  /// Nil for what is not `#` and six hexadecimal digits.
  package init?(_ text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 7, digits[0] == UInt8(ascii: "#"), text.dropFirst().allSatisfy(\.isHexDigit),
      let value = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    self.init(
      red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
      blue: UInt8(truncatingIfNeeded: value))
  }

  package var description: String {
    "#" + [red, green, blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// The contrast ratio of WCAG 2.2, from 1 to 21.
  package func contrast(with other: Colour) -> Double {
    let (one, two) = (luminance, other.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }

  /// Black or white, whichever is read better on it; the better one always has 4.5 to 1.
  var ink: Colour {
    let (black, white) = (Colour(red: 0, green: 0, blue: 0), Colour(red: 255, green: 255, blue: 255))
    return contrast(with: black) > contrast(with: white) ? black : white
  }

  /// Relative luminance, as WCAG 2.2 defines it.
  private var luminance: Double {
    0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
  }

  private static func linear(_ part: UInt8) -> Double {
    let value = Double(part) / 255
    return value <= 0.040_45 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }
}

extension HostedVariant {
  /// The style of the look: custom properties that `hosted.css` reads. It holds nothing but colours, so there is nothing
  /// in it to escape.
  var css: String {
    var rules: [String] = []
    if let accent { rules.append(":root{--accent:\(accent);--on-accent:\(accent.ink)}") }
    if let accentInDark {
      rules.append(
        "@media (prefers-color-scheme:dark){:root{--accent:\(accentInDark);--on-accent:\(accentInDark.ink)}}")
    } else if accent != nil {
      rules.append("@media (prefers-color-scheme:dark){:root{--accent:#83cfe0;--on-accent:#06272e}}")
    }
    if let header { rules.append(":root{--band:\(header);--on-band:\(header.ink)}") }
    return rules.joined(separator: "\n") + "\n"
  }
}
