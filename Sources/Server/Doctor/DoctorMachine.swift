import Settings

extension DoctorCheck {
  static let machineGroup = [diskSpace, openFiles]

  static let diskSpace = DoctorCheck(
    "disk_space", "The disk of the store has 10 % and 1 GB free.",
    meaning: "When it is full no payment can be written, and all are refused.",
    remedy: "Free space, or move the store to a larger disk.")
  static let openFiles = DoctorCheck(
    "open_files", "The process may open 4,096 files or more.",
    meaning: "The fewer there are, the fewer shoppers, payments and webhooks the server takes on at once.",
    remedy: "Raise the limit (ulimit -n, LimitNOFILE).")
}

extension Doctor {
  func machineFindings() -> [DoctorFinding] { [disk(), files()] }

  private func disk() -> DoctorFinding {
    // On PostgreSQL the store's disk is another machine's; the node's folder still takes keys and files.
    let path = configuration.store.path ?? configuration.adminSocketPath
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    guard let space = system.machine.disk(folder), space.all > 0 else {
      return DoctorCheck.diskSpace.skipped(folder, "there is no such folder yet")
    }
    let words = "\(space.free >> 20) MB of \(space.all >> 20) MB are free"
    guard space.free >= 64 << 20 else { return DoctorCheck.diskSpace.failed(folder, words) }
    guard space.free >= 1 << 30, space.free * 10 >= space.all else {
      return DoctorCheck.diskSpace.warning(folder, words)
    }
    return DoctorCheck.diskSpace.ok(folder, words)
  }

  private func files() -> DoctorFinding {
    let limit = facts?.isRunning == true ? facts?.openFiles ?? 0 : system.machine.openFiles()
    guard limit < 4_096 else { return DoctorCheck.openFiles.ok("process", "\(limit)") }
    return DoctorCheck.openFiles.warning("process", "at most \(limit) files")
  }
}
