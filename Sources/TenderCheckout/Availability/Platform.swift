/// A version of an operating system, as it decides what Apple Pay can do.
public struct PlatformVersion: Sendable, Hashable, Comparable {
  public let major: Int
  public let minor: Int

  public init(_ major: Int, _ minor: Int = 0) {
    self.major = major
    self.minor = minor
  }

  public static func < (left: PlatformVersion, right: PlatformVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }
}

/// The operating system that the app runs on.
public enum Platform: Sendable, Hashable {
  case iOS(PlatformVersion)
  case macOS(PlatformVersion)

  /// The release of iOS with the same PassKit: until macOS 15 its number was three higher, since 26 it is the same.
  public var passKit: PlatformVersion {
    switch self {
    case .iOS(let version): version
    case .macOS(let version) where version.major < 26: PlatformVersion(version.major + 3, version.minor)
    case .macOS(let version): version
    }
  }
}
