import ApplePayToken
import Foundation
import Sandbox
import TenderPayments
import Testing
import TokenVectors

/// Small texts that ask a careless reader for time, memory or stack.
@Suite struct `A bomb` {
  private static let bombs = Result { try ConformanceBombs() }

  @Test func `is refused within 50 ms`() throws {
    let bombs = try Self.bombs.get()
    #expect(bombs.vectors.count >= 14)
    for vector in bombs.vectors {
      let time = try bombs.time(vector)
      // A debug build says nothing about time, and much about never ending.
      #if DEBUG
        #expect(time <= .seconds(2), "\(vector.name) took \(time)")
      #else
        #expect(time <= .milliseconds(50), "\(vector.name) took \(time)")
      #endif
    }
  }

  /// Measured by the kernel, on a process that does nothing else.
  @Test func `costs less than 8 MiB more than a good token`() throws {
    let bombs = try Self.bombs.get()
    let good = try #require(bombs.library.vector("ec-v1"))
    let usual = try MeasuredProgram.peak(good)
    for vector in bombs.vectors {
      let peak = try MeasuredProgram.peak(vector)
      #expect(peak.exitCode == 1, "\(vector.name) is refused")
      #expect(peak.kilobytes - usual.kilobytes <= 8 << 10, "\(vector.name): \(peak.kilobytes) kB")
    }
  }
}

private struct ConformanceBombs {
  let library: VectorLibrary
  let vectors: [TokenVector]
  private let opener: TokenOpener

  init() throws {
    library = try VectorLibrary(directory: VectorMill.directory)
    vectors = library.vectors.filter { $0.name.hasPrefix("bomb-") || Self.large.contains($0.name) }
    opener = try library.opener(key: "ec-merchant.key.pem", merchant: VectorMill.merchant)
  }

  private static let large: Set<String> = ["text-too-deep", "text-too-long", "data-too-long", "signature-too-long"]

  /// The fastest of five.
  func time(_ vector: TokenVector) throws -> Duration {
    var watch = Stopwatch()
    for _ in 0..<5 {
      let difference = try watch.time { try library.difference(vector, with: opener) }
      #expect(difference == nil)
    }
    return watch.fastest
  }
}

/// `tender token verify`, and how much memory it took at most.
enum MeasuredProgram {
  static func peak(_ vector: TokenVector) throws -> (kilobytes: Int, exitCode: Int32) {
    let directory = FileManager.default.temporaryDirectory.appending(path: "bomb-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: "token.json").path
    try Data(vector.token).write(to: URL(filePath: file))
    let arguments = [
      try tender(), "token", "verify", file, "--root", "\(VectorMill.directory)/root.pem", "--at",
      vector.arrival.description,
    ]
    return try run(arguments)
  }

  private static func run(_ arguments: [String]) throws -> (kilobytes: Int, exitCode: Int32) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in [1, 2] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    }
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    guard posix_spawn(&process, arguments[0], &actions, nil, &words, environ) == 0 else {
      throw CocoaError(.executableLoad)
    }
    var (status, usage) = (Int32(0), rusage())
    guard wait4(process, &status, 0, &usage) == process else { throw CocoaError(.executableLoad) }
    return (usage.ru_maxrss, status & 0x7F == 0 ? status >> 8 & 0xFF : 128)
  }

  /// `TENDER`, or the program that was built together with these tests: it lies beside them.
  static func tender() throws -> String {
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    let places: [String?] = [
      ProcessInfo.processInfo.environment["TENDER"],
      URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tender").path,
      Repository.path(".build/\(configuration)/tender"),
    ]
    return try #require(places.compactMap(\.self).first { FileManager.default.isExecutableFile(atPath: $0) })
  }
}
