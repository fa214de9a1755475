import ApplePayToken
import TenderPayments

/// A certificate, as a configured root.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let pem = "-----BEGIN CERTIFICATE-----\n\(Base64.encode(bytes))\n-----END CERTIFICATE-----\n"
  _ = try? TokenTrust.simulated(rootPEM: pem)
  return 0
}
