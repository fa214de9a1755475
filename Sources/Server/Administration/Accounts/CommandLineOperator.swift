/// Who asks at the command line, and why.
package struct CommandLineOperator: Sendable {
  private let name: String
  let reason: String

  /// - Parameter name: the user of the machine; empty where nobody says it.
  package init(_ name: String, because reason: String = "") { (self.name, self.reason) = (name, reason) }

  /// In the office's audit chain.
  package var actor: String { name.isEmpty ? "command line" : "command line (\(name))" }
}
