import TenderPayments

/// Where the money of a payment is, as one bar: kept, refunded, charged back, held, released.
struct MoneyBar {
  private struct Part {
    let name: String
    /// Its class in the stylesheet.
    let kind: String
    let units: Int64
  }

  private let payment: Payment
  private let format: OfficeFormat
  private static let (width, height) = (600.0, 20.0)

  init(_ payment: Payment, _ format: OfficeFormat) { (self.payment, self.format) = (payment, format) }

  private var parts: [Part] {
    [
      Part(name: "Captured and kept", kind: "kept", units: payment.kept),
      Part(name: "Refunded", kind: "refunded", units: payment.refunded),
      Part(name: "Charged back", kind: "charged-back", units: payment.chargedBack),
      Part(name: "Authorized, not captured", kind: "held", units: payment.uncaptured),
      Part(name: "Released", kind: "released", units: payment.released),
    ].filter { $0.units > 0 }
  }

  /// For the template; none of it where no money was held.
  var values: [String: Any] {
    let parts = parts
    guard !parts.isEmpty else { return ["isEmpty": true] }
    let rows = parts.map { part in
      ["name": part.name, "kind": part.kind, "amount": format.amount(part.units, payment.amount.currency.code)]
    }
    return ["isEmpty": false, "hasParts": true, "svg": svg(parts), "parts": rows]
  }

  private func svg(_ parts: [Part]) -> String {
    let whole = max(parts.reduce(0.0) { $0 + Double($1.units) }, 1)
    var (x, drawn) = (0.0, "")
    for part in parts {
      let width = Double(part.units) / whole * Self.width
      drawn +=
        "<rect class=\"\(part.kind)\" x=\"\(SVG.number(x))\" y=\"0\" width=\"\(SVG.number(width))\" "
        + "height=\"\(SVG.number(Self.height))\"/>"
      x += width
    }
    let words = parts.map { "\($0.name) \(format.amount($0.units, payment.amount.currency.code))" }
    return "<svg class=\"money\" viewBox=\"0 0 \(SVG.number(Self.width)) \(SVG.number(Self.height))\" role=\"img\" "
      + "preserveAspectRatio=\"none\" aria-label=\"\(words.joined(separator: ", ").escaped(.markup))\">\(drawn)</svg>"
  }
}
