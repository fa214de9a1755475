import TenderPayments

/// Words of a shell command.
package enum Shell {
  /// The word as it is, or in quotation marks where the shell would read it in another way.
  package static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._/:".unicodeScalars.contains(scalar))
    }
    return plain && !word.isEmpty ? word : "'\(word.escaped(["'": "'\\''"]))'"
  }
}
