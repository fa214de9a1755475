/// Names of the time zone database, such as `Europe/Dublin`.
package enum TimeZoneName {
  /// Whether a text from outside may be the name of a place: its letters and its length alone are looked at. Foundation takes
  /// a name with more behind a zero byte for the name.
  package static func isPlace(_ text: String) -> Bool {
    let bytes = text.utf8
    return bytes.count <= 64 && bytes.contains(UInt8(ascii: "/"))
      && bytes.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || [UInt8(ascii: "/"), UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte)
      }
  }
}
