import ApplePayToken
import CApplePayToken
import StrictJSON
import TenderPayments
import TokenCalls

/// An `apt_result` in memory that the C caller owns until `apt_free`.
enum Answer {
  /// What a result is to later calls.
  enum Content: Sendable {
    case keys(TokenKeys)
    case token(CheckedToken)
  }

  /// Keeps the content alive as long as the result.
  private final class Handle: Sendable {
    let content: Content
    init(_ content: Content) { self.content = content }
  }

  /// Bytes that are copied from a caller: more than every limit of the library, and not without end.
  private static let limit = 2 << 20

  static func make(_ body: () throws -> (JSONObject, Content?)) -> UnsafeMutablePointer<apt_result>? {
    do {
      let (members, content) = try body()
      return result(stage: APT_DONE, members, content)
    } catch let error as PaymentTokenError {
      return result(stage: number(error.stage), TokenAnswer.document(error), nil)
    } catch {
      let mistake = error as? TokenCallError ?? TokenCallError(.malformedRequest, "not as described")
      return result(stage: APT_CALL, TokenAnswer.document(mistake), nil)
    }
  }

  private static func result(
    stage: Int, _ members: JSONObject, _ content: Content?
  ) -> UnsafeMutablePointer<apt_result> {
    var text = JSONValue.object(members).serialized()
    defer { text.wipe() }
    let json = UnsafeMutablePointer<CChar>.allocate(capacity: text.count + 1)
    text.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { UnsafeMutableRawPointer(json).copyMemory(from: start, byteCount: bytes.count) }
    }
    json[text.count] = 0
    let result = UnsafeMutablePointer<apt_result>.allocate(capacity: 1)
    result.initialize(
      to: apt_result(
        stage: Int32(clamping: stage), json: json, length: text.count,
        handle: content.map { UnsafeRawPointer(Unmanaged.passRetained(Handle($0)).toOpaque()) }))
    return result
  }

  static func free(_ result: UnsafeMutablePointer<apt_result>) {
    if let json = UnsafeMutablePointer(mutating: result.pointee.json) {
      Wiping.zero(UnsafeMutableRawBufferPointer(start: json, count: result.pointee.length))
      json.deallocate()
    }
    result.pointee.handle.map { Unmanaged<Handle>.fromOpaque($0).release() }
    result.deallocate()
  }

  static func bytes(_ start: UnsafeRawPointer?, _ length: Int) throws -> [UInt8] {
    guard length > 0 else { return [] }
    guard let start else { throw TokenCallError(.malformedRequest, "NULL in place of \(length) bytes") }
    return Array(UnsafeRawBufferPointer(start: start, count: min(length, limit)))
  }

  static func keys(_ result: UnsafePointer<apt_result>?) throws -> TokenKeys {
    guard case .keys(let keys)? = content(result) else {
      throw TokenCallError(.wrongHandle, "not the result of an apt_open that was done")
    }
    return keys
  }

  static func token(_ result: UnsafePointer<apt_result>?) throws -> CheckedToken {
    guard case .token(let token)? = content(result) else {
      throw TokenCallError(.wrongHandle, "not the result of an apt_verify or apt_decrypt that was done")
    }
    return token
  }

  private static func content(_ result: UnsafePointer<apt_result>?) -> Content? {
    result?.pointee.handle.map { Unmanaged<Handle>.fromOpaque($0).takeUnretainedValue().content }
  }

  static func time(_ seconds: Int64) -> Timestamp {
    seconds == .min ? WallClock.system.now() : Timestamp(seconds: seconds)
  }

  /// The numbers of the header.
  private static func number(_ stage: PaymentTokenError.Stage) -> Int {
    switch stage {
    case .format: APT_FORMAT
    case .certificates: APT_CERTIFICATES
    case .chain: APT_CHAIN
    case .signature: APT_SIGNATURE
    case .signingTime: APT_SIGNING_TIME
    case .key: APT_KEY
    case .unwrap: APT_UNWRAP
    case .decrypt: APT_DECRYPT
    case .payload: APT_PAYLOAD
    case .replay: APT_REPLAY
    case .order: APT_ORDER
    }
  }
}
