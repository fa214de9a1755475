/// A version of an operating system.
public struct PlatformVersion: Sendable, Hashable, Comparable {
  /// The number before the point.
  public let major: Int
  /// The number after it.
  public let minor: Int

  /// A version: `PlatformVersion(17, 5)`.
  public init(_ major: Int, _ minor: Int = 0) {
    self.major = major
    self.minor = minor
  }

  /// Whether the left version is older.
  public static func < (left: PlatformVersion, right: PlatformVersion) -> Bool {
    (left.major, left.minor) < (right.major, right.minor)
  }
}

/// The operating system that the app runs on.
public enum Platform: Sendable, Hashable {
  /// A phone or a tablet.
  case iOS(PlatformVersion)
  /// A Mac.
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
