import Foundation
import TenderPayments

/// Bars of one series, as SVG that needs neither script nor inline style. The table behind it holds the same numbers.
struct BarChart {
  struct Bar {
    let label: String
    let value: Double
    /// As it is written: `12.50 EUR`, `97.3 %`.
    let text: String
  }

  /// What the chart shows, for who cannot see it.
  let title: String
  let bars: [Bar]
  /// The value at the top; nil for the highest bar's.
  var maximum: Double?

  private static let (width, height, bottom) = (720.0, 190.0, 30.0)
  /// Left free on both sides, for the outer labels.
  private static let inset = 40.0
  private static let mostLabels = 8
  private static let widest = 72.0

  var svg: String {
    let top = max(maximum ?? bars.map(\.value).max() ?? 0, 0.000_001)
    let step = (Self.width - 2 * Self.inset) / Double(max(bars.count, 1))
    let width = min(step * 0.8, Self.widest)
    let drawn = bars.enumerated().map { index, bar in
      let height = max(bar.value / top * (Self.height - Self.bottom), bar.value > 0 ? 1 : 0)
      let (centre, y) = (Self.inset + (Double(index) + 0.5) * step, Self.height - Self.bottom - height)
      return
        "<rect x=\"\(Self.number(centre - width / 2))\" y=\"\(Self.number(y))\" width=\"\(Self.number(width))\" "
        + "height=\"\(Self.number(height))\" class=\"bar\"><title>\("\(bar.label): \(bar.text)".escaped(.markup))</title>"
        + "</rect>\(label(bar, index, centre))"
    }
    return
      "<svg viewBox=\"0 0 \(Self.number(Self.width)) \(Self.number(Self.height))\" role=\"img\" aria-label=\""
      + "\(title.escaped(.markup))\" class=\"chart\">\(drawn.joined())</svg>"
  }

  /// So few labels that they do not overlap.
  private func label(_ bar: Bar, _ index: Int, _ x: Double) -> String {
    let every = max(1, (bars.count + Self.mostLabels - 1) / Self.mostLabels)
    guard index % every == 0 else { return "" }
    return "<text x=\"\(Self.number(x))\" y=\"\(Self.number(Self.height - 7))\" text-anchor=\"middle\" class=\"label\">"
      + "\(bar.label.escaped(.markup))</text>"
  }

  private static func number(_ value: Double) -> String { String((value * 10).rounded() / 10) }

  /// As the page takes it: the picture, and the rows of its table.
  var values: [String: Any] {
    ["title": title, "svg": svg, "rows": bars.map { ["label": $0.label, "text": $0.text] }, "isEmpty": bars.isEmpty]
  }
}
