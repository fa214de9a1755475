import ApplePayToken
public import CApplePayToken
import StrictJSON
import TenderPayments
import TokenCalls

// The functions of `applepaytoken.h`, which describes them.

@c @implementation
public func apt_open(_ settings: UnsafeRawPointer?, _ length: Int) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    var bytes = try Answer.bytes(settings, length)
    defer { bytes.wipe() }
    return (["opened": true], .keys(try TokenKeys(settings: bytes)))
  }
}

@c @implementation
public func apt_inspect(_ token: UnsafeRawPointer?, _ length: Int) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    (TokenAnswer.document(TokenInspection(try EncryptedPaymentToken(bytes: Answer.bytes(token, length)))), nil)
  }
}

@c @implementation
public func apt_verify(
  _ keys: UnsafePointer<apt_result>?, _ token: UnsafeRawPointer?, _ length: Int, _ time: Int64
) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    let verified = try Answer.keys(keys).verify(Answer.bytes(token, length), at: Answer.time(time))
    return (TokenAnswer.document(verified), .token(verified))
  }
}

@c @implementation
public func apt_decrypt(
  _ keys: UnsafePointer<apt_result>?, _ token: UnsafeRawPointer?, _ length: Int, _ time: Int64
) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    let decrypted = try Answer.keys(keys).decrypt(Answer.bytes(token, length), at: Answer.time(time))
    return (TokenAnswer.document(decrypted), .token(decrypted))
  }
}

@c @implementation
public func apt_confirm(
  _ token: UnsafePointer<apt_result>?, _ expected: UnsafeRawPointer?, _ length: Int
) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    try Answer.token(token).confirm(expected: Answer.bytes(expected, length))
    return (["confirmed": true], nil)
  }
}

@c @implementation
public func apt_spend(
  _ keys: UnsafePointer<apt_result>?, _ token: UnsafePointer<apt_result>?
) -> UnsafeMutablePointer<apt_result>? {
  Answer.make {
    try Answer.keys(keys).spend(Answer.token(token))
    return (["spent": true], nil)
  }
}

@c @implementation
public func apt_free(_ result: UnsafeMutablePointer<apt_result>?) {
  result.map(Answer.free)
}
