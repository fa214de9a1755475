import TenderPayments
import Testing

@Suite struct `Bytes compared in constant time` {
  @Test(arguments: [0, 31, 32, 63]) func `differ in whichever byte they differ`(_ place: Int) {
    let secret = [UInt8](0..<64)
    var other = secret
    #expect(secret.isEqualInConstantTime(to: other))
    other[place] ^= 0x80
    #expect(!secret.isEqualInConstantTime(to: other))
  }

  @Test func `differ where one is only the beginning of the other`() {
    #expect(![UInt8]([1, 2, 3]).isEqualInConstantTime(to: [1, 2]))
    #expect(![UInt8]([1, 2]).isEqualInConstantTime(to: [1, 2, 0]))
    #expect(![UInt8]().isEqualInConstantTime(to: [0]))
    #expect([UInt8]().isEqualInConstantTime(to: []))
  }

  @Test func `do not cancel one difference by another`() {
    #expect(![UInt8]([1, 2]).isEqualInConstantTime(to: [2, 1]))
  }
}
