import QRCodes
import Testing

@Suite struct `A QR code` {
  @Test func `has three finder patterns and a size of its standard`() throws {
    let code = try #require(QRCode("http://192.0.2.7:8405/wallet?code=0123456789abcdef0123456789abcdef"))
    #expect((code.width - 17).isMultiple(of: 4))
    for (x, y) in [(0, 0), (code.width - 7, 0), (0, code.width - 7)] {
      #expect((0..<7).allSatisfy { code.modules[y * code.width + x + $0] })
      #expect(!code.modules[(y + 1) * code.width + x + 1] && code.modules[(y + 3) * code.width + x + 3])
    }
  }

  @Test func `of another text is another, and a text that is too long has none`() {
    #expect(QRCode("a")?.modules != QRCode("b")?.modules)
    #expect(QRCode(String(repeating: "x", count: 3_000)) == nil)
  }

  @Test func `is drawn with its quiet zone`() throws {
    let code = try #require(QRCode("x"))
    #expect(code.side == code.width + 8 && code.path.hasPrefix("M4 4h7v1h-7z"))
    #expect(code.svg.contains("viewBox=\"0 0 \(code.side) \(code.side)\""))
  }
}
