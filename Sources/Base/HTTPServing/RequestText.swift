import StrictJSON
import TenderPayments

/// How text in the target, the headers and the forms of a request is read: as JSON's strings are, so that everything
/// behind may compare and keep it.
package enum RequestText {
  /// - Returns: nil for what is no UTF-8, for NUL, where databases and C libraries end a text, and for a run of combining
  ///   marks that is long to compare.
  package static func read(_ bytes: some Collection<UInt8>) -> String? {
    guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self), StreamSafeText.accepts(text)
    else { return nil }
    return text
  }

  /// Undoes percent-encoding (RFC 3986, section 2.1). A percent sign that begins no escape stays.
  package static func unescaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var (result, rest) = ([UInt8](), Array(bytes)[...])
    result.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let escaped = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
        escaped.count == 1
      {
        result += escaped
        rest = rest.dropFirst(2)
      } else {
        result.append(byte)
      }
    }
    return result
  }
}
