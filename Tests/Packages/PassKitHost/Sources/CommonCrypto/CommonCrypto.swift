// As far as the app kit calls it: here it only has to compile.

public typealias CCOperation = UInt32
public typealias CCAlgorithm = UInt32
public typealias CCOptions = UInt32
public typealias CCCryptorStatus = Int32

public let kCCEncrypt = 0
public let kCCAlgorithmAES = 0
public let kCCOptionPKCS7Padding = 1
public let kCCBlockSizeAES128 = 16
public let kCCSuccess = 0
public let kCCUnimplemented = -4305

public func CCCrypt(
  _ operation: CCOperation, _ algorithm: CCAlgorithm, _ options: CCOptions, _ key: UnsafeRawPointer?, _ keyLength: Int,
  _ iv: UnsafeRawPointer?, _ dataIn: UnsafeRawPointer?, _ dataInLength: Int, _ dataOut: UnsafeMutableRawPointer?,
  _ dataOutAvailable: Int, _ dataOutMoved: UnsafeMutablePointer<Int>?
) -> CCCryptorStatus { CCCryptorStatus(kCCUnimplemented) }
