import CProcessMemory
import Foundation
import HTTPTransport
import TenderServer

/// The memory of a process that holds private keys and payment data.
enum ProcessMemory {
  /// Forbids core dumps, and on Linux also that other processes of the same user read the memory.
  ///
  /// Called before the first key is read.
  static func forbidDumps() throws {
    let problem = process_memory_forbid_dumps()
    guard problem == 0 else { throw CallFailure("cannot forbid core dumps: \(String(cString: strerror(problem)))") }
  }
}
