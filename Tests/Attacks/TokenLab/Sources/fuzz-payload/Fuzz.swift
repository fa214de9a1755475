import ApplePayToken
import TenderPayments

/// The text inside a payment token.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let data = try? PaymentData(plaintext: bytes) else { return 0 }
  guard !data.amount.isNegative else { fatalError("a negative amount") }
  return 0
}
