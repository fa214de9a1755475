import CQRCode

/// A QR code (ISO/IEC 18004) as a drawing of squares, made by libqrencode.
package struct QRCode: Sendable, Hashable {
  /// Modules of the quiet zone, which readers need.
  private static let margin = 4

  /// Modules a side, without the quiet zone.
  package let width: Int
  /// Row by row; true is dark.
  package let modules: [Bool]

  /// Nil for a text that is too long for any code.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    let code = bytes.withUnsafeBufferPointer {
      QRcode_encodeData(Int32(clamping: $0.count), $0.baseAddress, 0, QR_ECLEVEL_M)
    }
    guard let code else { return nil }
    defer { QRcode_free(code) }
    guard let data = code.pointee.data else { return nil }
    width = Int(code.pointee.width)
    modules = (0..<(width * width)).map { data[$0] & 1 == 1 }
  }

  /// Modules a side, with the quiet zone.
  package var side: Int { width + 2 * Self.margin }

  /// The dark modules as the path of an SVG drawing of ``side`` by ``side``.
  package var path: String { (0..<width).map { row(at: $0) }.joined() }

  /// Dark on light also in dark surroundings, because not every camera reads the other way round.
  package var svg: String {
    #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(side) \#(side)" shape-rendering="crispEdges">"#
      + #"<path fill="white" d="M0 0h\#(side)v\#(side)H0z"/><path d="\#(path)"/></svg>"#
  }

  /// The dark runs of a row, each a rectangle of height 1.
  private func row(at y: Int) -> String {
    var (path, x) = ("", 0)
    while x < width {
      guard modules[y * width + x] else {
        x += 1
        continue
      }
      let start = x
      while x < width, modules[y * width + x] { x += 1 }
      path += "M\(start + Self.margin) \(y + Self.margin)h\(x - start)v1h-\(x - start)z"
    }
    return path
  }
}
