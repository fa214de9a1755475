import TenderPayments

/// Words of a shell command.
package enum Shell {
  /// A program of Tender that lies beside this one, as it is typed where this one was started.
  package static func program(_ name: String) -> String { quoted(beside(name)) }

  /// ``program(_:)`` as it is, without quotation marks.
  package static func beside(_ name: String) -> String {
    let called = CommandLine.arguments.first ?? ""
    return (called.lastIndex(of: "/").map { String(called[...$0]) } ?? "") + name
  }

  /// The word as it is, or in quotation marks where the shell would read it in another way.
  package static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._/:".unicodeScalars.contains(scalar))
    }
    return plain && !word.isEmpty ? word : "'\(word.escaped(["'": "'\\''"]))'"
  }
}
