import Foundation
package import Settings

/// The listening sockets that the process was started with, as systemd hands them to a service.
///
/// They stay open between two processes of the server, and connections that come meanwhile wait in their queues.
package struct InheritedSockets: Sendable {
  /// Which listener accepts from a socket: `FileDescriptorName=` of the socket unit.
  package enum Name: String, CaseIterable, Sendable { case http, office, metrics }

  package static let none = InheritedSockets(descriptors: [:])

  private let descriptors: [Name: CInt]

  package var isEmpty: Bool { descriptors.isEmpty }

  package subscript(_ name: Name) -> CInt? { descriptors[name] }

  /// Takes the sockets that `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES` name. There are none when the variables are
  /// meant for another process. A socket without a name is the public listener's.
  ///
  /// - Parameter first: the first socket's descriptor; the next ones follow it.
  /// - Throws: ``ConfigurationError`` for a socket that no listener can use.
  package static func take(
    _ variables: [String: String] = ProcessInfo.processInfo.environment, first: CInt = 3
  ) throws -> InheritedSockets {
    guard variables["LISTEN_PID"] == "\(getpid())", let count = variables["LISTEN_FDS"].flatMap({ CInt($0) }) else {
      return .none
    }
    let names = (variables["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
    var descriptors: [Name: CInt] = [:]
    for place in 0..<max(0, count) {
      let text = Int(place) < names.count ? String(names[Int(place)]) : ""
      guard let name = text.isEmpty || text == "unknown" ? .http : Name(rawValue: text) else {
        throw ConfigurationError(
          "LISTEN_FDNAMES", "\(text) is no listener; FileDescriptorName is one of: http, office, metrics")
      }
      guard descriptors[name] == nil else {
        throw ConfigurationError("LISTEN_FDNAMES", "\(name) is named twice; give each socket a name of its own")
      }
      descriptors[name] = try listening(first + place, as: name)
    }
    return InheritedSockets(descriptors: descriptors)
  }

  /// - Throws: ``ConfigurationError`` when there is a socket for a listener that the configuration does not have: callers
  ///   would wait there for ever.
  package func check(_ configuration: ServerConfiguration) throws {
    if self[.office] != nil, configuration.office.port == nil {
      throw ConfigurationError("backOffice.port", "there is a socket for the back office; name its port")
    }
    if self[.metrics] != nil, configuration.metricsPort == nil {
      throw ConfigurationError("metrics.port", "there is a socket for the metrics; name its port")
    }
  }

  /// - Returns: the descriptor, which no program that the server starts gets.
  private static func listening(_ descriptor: CInt, as name: Name) throws -> CInt {
    var (listens, size): (CInt, socklen_t) = (0, socklen_t(MemoryLayout<CInt>.size))
    guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens == 1 else {
      throw ConfigurationError(
        "LISTEN_FDS", "the socket \(name) does not listen; the unit needs ListenStream= and Accept=no")
    }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }
}
