import Foundation
import KeyAgent
import Settings
import Storage

extension DoctorMachine {
  /// This machine.
  package static let live = DoctorMachine(
    mode: { path in
      var status = stat()
      return stat(path, &status) == 0 ? Int(status.st_mode & 0o777) : nil
    },
    isPrivate: { PrivateFile.isPrivate($0) },
    size: { path in
      var status = stat()
      return stat(path, &status) == 0 ? Int64(status.st_size) : nil
    },
    disk: { path in
      var status = statvfs()
      guard statvfs(path, &status) == 0 else { return nil }
      let block = Int64(status.f_frsize)
      return (Int64(status.f_bavail) * block, Int64(status.f_blocks) * block)
    },
    openFiles: { FileDescriptors.limit },
    socketAnswers: { path in
      let agent = KeyAgentClient(path: path)
      return (try? agent.keys(within: .seconds(2))) != nil
    })
}
