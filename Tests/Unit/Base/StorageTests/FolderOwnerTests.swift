import Foundation
import Storage
import TenderTesting
import Testing

@Suite(.enabled(if: geteuid() == 0, "only root works as another user")) struct `The user whose folder it is` {
  private let folder: TemporaryStore
  private var place: String { folder.directory }

  init() throws { folder = try TemporaryStore() }

  private func make(_ name: String, of user: UInt32) throws {
    try FileManager.default.createDirectory(atPath: "\(place)/\(name)", withIntermediateDirectories: false)
    #expect(chown("\(place)/\(name)", user, user) == 0)
  }

  private func link(_ name: String, to target: String, of user: UInt32) throws {
    try FileManager.default.createSymbolicLink(atPath: "\(place)/\(name)", withDestinationPath: target)
    #expect(lchown("\(place)/\(name)", user, user) == 0)
  }

  @Test func `is that of the last folder which is there, also behind root's link`() throws {
    try make("lib", of: 12345)
    try make("lib/own", of: 23456)
    try make("etc", of: 0)
    try link("etc/lib", to: "../lib", of: 0)
    for (name, user) in [
      ("etc", nil), ("etc/new/er", nil), ("lib", 12345), ("lib/new/er", 12345), ("lib/own", 23456), ("etc/lib", 12345),
      ("etc/lib/own/../new", 12345), ("lib/..", nil), ("lib/../etc", nil),
    ] as [(String, UInt32?)] {
      #expect(try FolderOwner(of: "\(place)/\(name)")?.user == user, "\(name)")
    }
  }

  @Test func `could exchange root's folder in it, or root's link there, so root does not work below`() throws {
    try make("lib", of: 12345)
    try make("lib/keys", of: 0)
    try make("roots", of: 0)
    try link("lib/roots", to: "../roots", of: 0)
    for name in ["lib/keys", "lib/keys/new", "lib/roots"] {
      let refused = #expect(throws: PrivateFileError.self) { try FolderOwner(of: "\(place)/\(name)") }
      #expect(refused?.reason.contains("who could exchange it") == true, "\(name): \(String(describing: refused))")
    }
  }

  @Test func `is none of a folder of root's in which others may write, so root does not work there`() throws {
    try make("lib", of: 0)
    for (mode, group, isRefused) in [
      (0o770, 12345, true), (0o707, 0, true), (0o770, 0, false), (0o750, 12345, false), (0o1777, 0, false),
    ] as [(UInt32, UInt32, Bool)] {
      #expect(chown("\(place)/lib", 0, group) == 0 && chmod("\(place)/lib", mode) == 0)
      for name in ["lib", "lib/new"] {
        let found = Result { try FolderOwner(of: "\(place)/\(name)") }
        #expect((try? found.get()?.user) == nil)
        guard case .failure(let error) = found else {
          #expect(!isRefused, "\(String(mode, radix: 8))")
          continue
        }
        #expect(isRefused && "\(error)".contains("chmod go-w \(place)/lib"), "\(error)")
      }
    }
  }

  @Test func `leads root nowhere by a link`() throws {
    try make("roots", of: 0)
    try link("own", to: "roots", of: 12345)
    let refused = #expect(throws: PrivateFileError.self) { try FolderOwner(of: "\(place)/own/new") }
    #expect(refused?.reason.hasPrefix("is a link that is not root's") == true)
  }

  @Test func `has nothing in a folder that root reads as a whole`() throws {
    try make("merchant", of: 0)
    try make("merchant/api-keys", of: 0)
    try FolderOwner.requireWhole("\(place)/merchant")
    try link("merchant/api-keys/k.secret", to: "/etc/shadow", of: 12345)
    #expect(throws: PrivateFileError.self) { try FolderOwner.requireWhole("\(place)/merchant") }
  }

  @Test func `gets a key and a folder that root makes in root's folder, and no link in its place is followed`() throws {
    try make("etc", of: 0)
    try make("lib", of: 12345)
    let user = try #require(try FolderOwner(of: "\(place)/lib"))
    try PrivateFile.makeFirstFolder(of: "\(place)/etc/keys/deep", for: user)
    #expect(try FolderOwner(of: "\(place)/etc/keys/deep")?.user == 12345)
    #expect(!FileManager.default.fileExists(atPath: "\(place)/etc/keys/deep"))
    try PrivateFile.write("precious", to: "\(place)/etc/precious")
    try link("etc/own.key", to: "precious", of: 12345)
    try PrivateFile.write("key", to: "\(place)/etc/own.key", of: user)
    var (own, precious) = (stat(), stat())
    #expect(lstat("\(place)/etc/own.key", &own) == 0 && own.st_uid == 12345 && own.st_mode & 0o777 == 0o600)
    #expect(lstat("\(place)/etc/precious", &precious) == 0 && precious.st_uid == 0)
    #expect(try PrivateFile.text("\(place)/etc/precious") == "precious")
  }
}
