import Administration
import Foundation
import TenderServer

/// Where the demo of a port keeps everything, for commands that were given the port alone.
package enum DemoFolder {
  /// The folder of the demo that runs with the port, here or elsewhere, else of the one without providers.
  package static func path(_ port: Int) -> String {
    let here = all(port).first { FileManager.default.fileExists(atPath: $0 + "/tender.db.sock") }
    return here ?? elsewhere(port) ?? ".tender/demo-\(port)"
  }

  /// The folder of a demo that this user started in another directory.
  private static func elsewhere(_ port: Int) -> String? {
    guard let store = RunningServers().store(at: port),
      let socket = try? FileManager.default.destinationOfSymbolicLink(atPath: store + ".sock"), holds(socket)
    else { return nil }
    return URL(fileURLWithPath: socket).deletingLastPathComponent().path
  }

  /// Those of every kind of demo that the port has had, in order: each provider has one of its own.
  package static func all(_ port: Int) -> [String] {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: ".tender")) ?? []).sorted()
    return names.filter { $0 == "demo-\(port)" || $0.hasPrefix("demo-\(port)-") }.map { ".tender/\($0)" }
  }

  /// Whether a store lies in a demo's folder.
  package static func holds(_ store: String) -> Bool {
    URL(fileURLWithPath: store).deletingLastPathComponent().lastPathComponent.hasPrefix("demo-")
  }

  package static func hasProviders(_ port: Int) -> Bool {
    FileManager.default.fileExists(atPath: path(port) + "/connectors")
  }
}
