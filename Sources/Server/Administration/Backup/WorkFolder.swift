import Foundation
import HTTPTransport
import Storage
import Synchronization

/// A folder for files that are not whole yet, or not encrypted, on the file system of their place.
///
/// One command at a time has one in a place. What a command has left there that was killed is removed first; a signal that
/// ends this one removes its own.
final class WorkFolder: Sendable {
  let path: String
  private let place: String
  private let descriptor: Int32

  init(in folder: String) throws {
    try PrivateFile.makeFolder(folder)
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CallFailure("\(folder) cannot be opened: \(String(cString: strerror(errno)))") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw CallFailure("another backup or restore works in \(folder): wait until it has ended")
    }
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix(".work.") {
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
      path = try PrivateFile.makeWorkFolder(in: folder)
    } catch {
      close(descriptor)
      throw error
    }
    (place, self.descriptor) = (folder, descriptor)
    Self.removeAtSignals()
    Self.current.withLock { _ = $0.insert(path) }
  }

  /// Whether it lies in this folder, by whatever path.
  func isIn(_ folder: String) -> Bool {
    URL(fileURLWithPath: folder).resolvingSymlinksInPath() == URL(fileURLWithPath: place).resolvingSymlinksInPath()
  }

  func remove() {
    try? FileManager.default.removeItem(atPath: path)
    Self.current.withLock { _ = $0.remove(path) }
  }

  deinit {
    // Not by closing it alone: a child process holds a copy between `fork` and `exec`.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Those of this process.
  private static let current = Mutex<Set<String>>([])

  private static let sources = Mutex<[any DispatchSourceSignal]>([])

  private static func removeAtSignals() {
    sources.withLock { sources in
      guard sources.isEmpty else { return }
      for number in [SIGTERM, SIGINT, SIGHUP] {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler {
          for path in current.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
          signal(number, SIG_DFL)
          kill(getpid(), number)
        }
        source.resume()
        sources.append(source)
      }
    }
  }
}
