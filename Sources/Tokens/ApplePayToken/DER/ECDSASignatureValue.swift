/// ECDSA-Sig-Value (RFC 5480 appendix A): two positive integers, in DER only.
enum ECDSASignatureValue {
  /// `r ‖ s`, each as long as the curve's order; nil when it is not DER or does not fit.
  static func fixedWidth(_ der: ArraySlice<UInt8>, integerBytes: Int) -> [UInt8]? {
    guard var numbers = try? BERReader.only(der, BERTag.sequence, .der, "a signature").children(.der),
      let first = try? numbers.next(BERTag.integer, "r"), let second = try? numbers.next(BERTag.integer, "s"),
      numbers.isAtEnd, let r = magnitude(first.content, integerBytes), let s = magnitude(second.content, integerBytes)
    else { return nil }
    var out = [UInt8](repeating: 0, count: integerBytes - r.count)
    out.reserveCapacity(2 * integerBytes)
    out += r
    out.append(contentsOf: repeatElement(0, count: integerBytes - s.count))
    out += s
    return out
  }

  /// Without the zero byte that keeps a large number positive.
  private static func magnitude(_ content: ArraySlice<UInt8>, _ limit: Int) -> ArraySlice<UInt8>? {
    guard let first = content.first, first < 0x80 else { return nil }
    guard first == 0 else { return content.count <= limit ? content : nil }
    let rest = content.dropFirst()
    guard let second = rest.first, second >= 0x80, rest.count <= limit else { return nil }
    return rest
  }
}
