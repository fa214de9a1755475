import ApplePayToken
import TenderPayments

/// The signature of a payment token: read, inspected and verified.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let zeros = [UInt8](repeating: 0, count: 32)
  let token = EncryptedPaymentToken(
    version: .ecV1, data: zeros, signature: bytes, keyMaterial: .ephemeralPublicKey(zeros), publicKeyHash: zeros,
    transactionID: zeros, applicationDataHash: nil)
  _ = TokenInspection(token)
  guard (try? TokenVerifier(trust: .apple()).verify(token, at: Timestamp(seconds: 1_750_000_000))) == nil else {
    fatalError("verified")
  }
  return 0
}
