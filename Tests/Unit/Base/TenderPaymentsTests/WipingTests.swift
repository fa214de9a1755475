import Foundation
import TenderPayments
import Testing

@Suite struct `A wiped secret` {
  @Test func `is overwritten with zeros`() {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
    Wiping.zero(UnsafeMutableRawBufferPointer(rebasing: memory[8..<56]))
    #expect(memory[8..<56].allSatisfy { $0 == 0 })
    #expect(memory[..<8].allSatisfy { $0 == 0xA5 } && memory[56...].allSatisfy { $0 == 0xA5 })
  }

  @Test func `leaves an empty array, and an owner of another copy its bytes`() {
    var bytes: [UInt8] = [1, 2, 3]
    let other = bytes
    bytes.wipe()
    #expect(bytes.isEmpty && other == [1, 2, 3])
    var data = Data([1, 2, 3])
    data.wipe()
    #expect(data.isEmpty)
  }

  @Test func `may be empty`() {
    var bytes: [UInt8] = []
    bytes.wipe()
    #expect(bytes.isEmpty)
  }
}
