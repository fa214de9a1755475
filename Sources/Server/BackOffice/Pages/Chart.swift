import Foundation
import TenderPayments

/// Pictures that need neither script nor inline style.
enum SVG {
  static func number(_ value: Double) -> String { String((value * 10).rounded() / 10) }

  /// - Parameter kind: of the stylesheet.
  static func text(_ text: String, _ x: Double, _ y: Double, anchor: String, kind: String = "label") -> String {
    "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\" class=\"\(kind)\">\(text.escaped(.markup))</text>"
  }

  static func rect(_ kind: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double) -> String {
    "<rect class=\"\(kind)\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\"/>"
  }

  static func line(_ kind: String, _ x1: Double, _ x2: Double, _ y: Double) -> String {
    "<line class=\"\(kind)\" x1=\"\(number(x1))\" x2=\"\(number(x2))\" y1=\"\(number(y))\" y2=\"\(number(y))\"/>"
  }
}

/// The numbers at an axis: from zero, in steps that a person counts in.
struct Axis {
  let top: Double
  let ticks: [Double]

  /// - Parameters:
  ///   - highest: the highest value that is drawn.
  ///   - least: the smallest step: 1 for what is counted.
  init(highest: Double, least: Double = 0) {
    let rough = max(highest, 0.000_001) / 3
    let power = pow(10, log10(rough).rounded(.down))
    let step = max([1, 2, 2.5, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough, least)
    let count = max(1, (highest / step).rounded(.up))
    top = step * count
    ticks = stride(from: 0, through: count, by: 1).map { $0 * step }
  }
}

/// A chart over time: a column for each hour or day, stacked from its parts, with a mark for the period before. The table
/// behind it holds the same numbers, and leads to the payments.
struct TimeChart {
  struct Column {
    let label: String
    /// Each with its class in the stylesheet and its height; the lowest first.
    let parts: [(kind: String, value: Double)]
    /// The height in the period before; nil where that is not drawn.
    var before: Double?
    /// As it is written: `€12.50`, `97.3%`.
    let text: String
    let beforeText: String
    /// Where the payments behind it are listed.
    let path: String

    fileprivate var height: Double { parts.reduce(0.0) { $0 + $1.value } }
  }

  let title: String
  /// The total, and that of the period before.
  let summary: String
  let columns: [Column]
  /// The smallest step of the axis.
  var least = 0.0
  /// How a number at the axis is written.
  let tick: (Double) -> String
  /// What its colours mean.
  var legend: [(kind: String, name: String)] = []

  private static let (width, height, left, bottom, top, right) = (720.0, 250.0, 76.0, 34.0, 22.0, 12.0)
  private static let mostLabels = 8

  var values: [String: Any] {
    [
      "title": title, "summary": summary, "svg": svg,
      "isEmpty": columns.allSatisfy { $0.height == 0 && $0.before ?? 0 == 0 },
      "legend": legend.map { ["kind": $0.kind, "name": $0.name] }, "hasBefore": columns.contains { $0.before != nil },
      "rows": columns.map { ["label": $0.label, "text": $0.text, "before": $0.beforeText, "path": $0.path] },
    ]
  }

  private var svg: String {
    let highest = columns.flatMap { [$0.height, $0.before ?? 0] }.max() ?? 0
    let axis = Axis(highest: highest, least: least)
    func y(_ value: Double) -> Double {
      let room = Self.height - Self.bottom - Self.top
      return Self.top + room * (1 - min(value / axis.top, 1))
    }
    let grid = axis.ticks.map { value in
      SVG.line("grid", Self.left, Self.width - Self.right, y(value))
        + SVG.text(tick(value), Self.left - 8, y(value) + 5, anchor: "end")
    }
    let step = (Self.width - Self.left - Self.right) / Double(max(columns.count, 1))
    let drawn = columns.enumerated().map { index, column in draw(column, index, step, y) }
    return "<svg viewBox=\"0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))\" role=\"img\" class=\"chart\" "
      + "aria-label=\"\("\(title): \(summary)".escaped(.markup))\">\(grid.joined())\(drawn.joined())</svg>"
  }

  private func draw(_ column: Column, _ index: Int, _ step: Double, _ y: (Double) -> Double) -> String {
    let (start, width) = (Self.left + Double(index) * step, min(step * 0.72, 64))
    let x = start + (step - width) / 2
    var (floor, bars) = (0.0, "")
    for part in column.parts where part.value > 0 {
      let (low, high) = (y(floor), y(floor + part.value))
      bars += SVG.rect(part.kind, x, high, width, max(low - high, 1))
      floor += part.value
    }
    // At zero it would be taken for the axis.
    let mark = column.before ?? 0
    let before = mark > 0 ? SVG.line("before", start, start + step, y(mark)) : ""
    let words = "\(column.label): \(column.text)" + (column.beforeText.isEmpty ? "" : "; before \(column.beforeText)")
    let hit = SVG.rect("hit", start, Self.top, step, Self.height - Self.top - Self.bottom)
    return "<g class=\"column\"><title>\(words.escaped(.markup))</title>\(hit)\(bars)\(before)</g>"
      + label(column, index, start + step / 2)
  }

  /// So few labels that they do not overlap, and none that leaves the picture.
  private func label(_ column: Column, _ index: Int, _ x: Double) -> String {
    let every = max(1, (columns.count + Self.mostLabels - 1) / Self.mostLabels)
    guard index % every == 0 else { return "" }
    return SVG.text(
      column.label, min(max(x, Self.left), Self.width - 36), Self.height - 8, anchor: "middle",
      // Every second one has no room on a phone.
      kind: index / every % 2 == 0 ? "label" : "label between")
  }
}

/// Named values, the highest first, each with its bar and with its value of the period before.
struct RankChart {
  struct Row {
    let name: String
    /// From 0 to 1, of the whole width.
    let share: Double
    let text: String
    let before: String
    /// Where the payments behind it are listed; empty where no search finds them.
    var path = ""
  }

  let title: String
  let rows: [Row]
  private static let (width, height) = (200.0, 12.0)

  /// The table beside it says the same.
  private static func picture(_ share: Double) -> String {
    let track = SVG.rect("track", 0, 0, width, height)
    let bar = SVG.rect("bar", 0, 0, min(max(share, 0), 1) * width, height)
    return
      "<svg viewBox=\"0 0 200 12\" class=\"rank\" aria-hidden=\"true\" preserveAspectRatio=\"none\">\(track)\(bar)</svg>"
  }

  var values: [String: Any] {
    [
      "title": title, "isEmpty": rows.isEmpty,
      "rows": rows.map { row in
        [
          "name": row.name, "text": row.text, "before": row.before, "path": row.path, "hasPath": !row.path.isEmpty,
          "svg": Self.picture(row.share),
        ] as [String: Any]
      },
    ]
  }
}
