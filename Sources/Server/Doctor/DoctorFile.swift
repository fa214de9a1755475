import Settings

extension DoctorCheck {
  static let fileGroup = [privateFiles, storeFile, folderWritable]

  static let privateFiles = DoctorCheck(
    "private_file_mode", "Only its owner can read a file with a private key or a secret.",
    meaning: "The server does not start; and others of this machine may have read the secret.",
    remedy: "chmod 600, and replace the key if others could read it.")
  static let storeFile = DoctorCheck(
    "store_file_mode", "Only its owner can read the store.",
    meaning: "Others of this machine can read orders and addresses.", remedy: "chmod 600.")
  static let folderWritable = DoctorCheck(
    "folder_mode", "Nobody but the owner and the group can write into the merchants' folder.",
    meaning: "Any user of this machine can replace a certificate or an association file.", remedy: "chmod o-w.")
}

extension Doctor {
  func fileFindings() -> [DoctorFinding] { privateFiles() + storeFile() + folders() }

  private func privateFiles() -> [DoctorFinding] {
    let platform = subject.platform.filter(\.hasKeyFile).map { $0.file.dropLast(4) + ".key" }
    let tls = (configuration.tls?.keyFile).map { [$0] } ?? []
    let keys = subject.merchants.flatMap(\.privateFiles) + platform.map { String($0) } + storeKeyFile + contactKeyFiles
    return (keys + tls).map { file in
      mode(of: file, DoctorCheck.privateFiles)
    }
  }

  /// The file with the keys of the store, where it is there and gives them.
  private var storeKeyFile: [String] {
    let file = configuration.storeKeyFile
    return configuration.usesStoreKeyFile && system.machine.mode(file) != nil ? [file] : []
  }

  private var contactKeyFiles: [String] {
    [configuration.contactKeyFile, configuration.contactKeyCopy].compactMap(\.self)
      .filter { system.machine.mode($0) != nil }
  }

  private func storeFile() -> [DoctorFinding] {
    guard let path = configuration.store.path else {
      return [DoctorCheck.storeFile.skipped(configuration.store.name, "it is no file")]
    }
    guard system.machine.mode(path) != nil else {
      return [DoctorCheck.storeFile.skipped(path, "the first start makes it")]
    }
    return [mode(of: path, DoctorCheck.storeFile)]
  }

  private func mode(of file: String, _ check: DoctorCheck) -> DoctorFinding {
    let mode = system.machine.mode(file) ?? 0
    return check.require(
      system.machine.isPrivate(file) ?? false, file, ok: "mode \(String(mode, radix: 8))",
      failed: "mode \(String(mode, radix: 8)): others than its owner can read it", remedy: "chmod 600 \(file)")
  }

  private func folders() -> [DoctorFinding] {
    ([configuration.merchantsDirectory] + subject.merchants.map(\.path)).compactMap { folder in
      guard let mode = system.machine.mode(folder) else { return nil }
      return DoctorCheck.folderWritable.require(
        mode & 0o002 == 0, folder, ok: "mode \(String(mode, radix: 8))",
        failed: "mode \(String(mode, radix: 8)): every user can write into it", remedy: "chmod o-w \(folder)")
    }
  }
}
