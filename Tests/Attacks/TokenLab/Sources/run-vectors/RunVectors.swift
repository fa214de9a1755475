import ApplePayToken
import Foundation
import TenderPayments
import TokenVectors

/// Runs every conformance vector, twice by one opener, and prints the name of each whose result differs.
@main
struct RunVectors {
  static func main() throws {
    let library = try VectorLibrary(directory: CommandLine.arguments[1])
    var wrong: Set<String> = []
    for vectors in Dictionary(grouping: library.vectors, by: \.key).values {
      let opener = try library.opener(for: vectors[0])
      for vector in vectors + vectors {
        if try library.difference(vector, with: opener) != nil { wrong.insert(vector.name) }
        if try library.difference(vector) != nil { wrong.insert(vector.name) }
      }
    }
    for name in wrong.sorted() { print(name) }
    FileHandle.standardError.write(Data("vectors: \(library.vectors.count) runs, \(wrong.count) violations\n".utf8))
    exit(wrong.isEmpty ? 0 : 1)
  }
}
