/// A SubjectPublicKeyInfo in DER (RFC 5280, section 4.1).
package enum PublicKeyInfo {
  /// The bytes of its key: the content of the bit string that follows the algorithm. Nil when it has another form.
  package static func key(in bytes: [UInt8]) -> [UInt8]? {
    guard let all = element(bytes[...], tag: 0x30), all.rest.isEmpty,
      let algorithm = element(all.content, tag: 0x30), let bits = element(algorithm.rest, tag: 0x03),
      bits.rest.isEmpty, bits.content.first == 0
    else { return nil }
    return Array(bits.content.dropFirst())
  }

  /// The first element, if it has the tag.
  private static func element(
    _ bytes: ArraySlice<UInt8>, tag: UInt8
  ) -> (content: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    guard bytes.count >= 2, bytes.first == tag else { return nil }
    let first = Int(bytes[bytes.startIndex + 1])
    let lengthBytes = first < 0x80 ? 0 : first & 0x7F
    let body = bytes.dropFirst(2)
    guard lengthBytes <= 2, body.count >= lengthBytes else { return nil }
    let length = first < 0x80 ? first : body.prefix(lengthBytes).reduce(0) { $0 << 8 | Int($1) }
    let content = body.dropFirst(lengthBytes)
    guard content.count >= length else { return nil }
    return (content.prefix(length), content.dropFirst(length))
  }
}
