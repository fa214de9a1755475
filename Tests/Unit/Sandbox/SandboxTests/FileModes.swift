import Foundation

/// The permissions of the files of a directory whose names end so.
func fileModes(in directory: String, ending: String) throws -> [Int] {
  try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(ending) }.map { name in
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }
}
