package import Foundation

extension FileManager {
  /// The bytes of a file that a configuration or the command line names; nil where there is none that can be
  /// read, and where there are more than the limit: `/dev/zero` has no end.
  package func contents(ofFile path: String, atMost limit: Int = 16 << 20) -> Data? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    defer { try? file.close() }
    var bytes = Data()
    do {
      while let piece = try file.read(upToCount: 1 << 16), !piece.isEmpty {
        bytes += piece
        guard bytes.count <= limit else { return nil }
      }
    } catch { return nil }
    return bytes
  }
}
