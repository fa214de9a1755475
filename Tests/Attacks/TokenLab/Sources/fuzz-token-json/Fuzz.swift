import ApplePayToken
import TenderPayments

/// The text of a payment token, down to its binary members.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let token = try? EncryptedPaymentToken(bytes: bytes) else { return 0 }
  guard token.transactionID.count == 32, token.publicKeyHash.count == 32 else { fatalError("a length") }
  return 0
}
