import ApplePayToken
import Foundation
import TenderPayments
import TenderTesting
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
    #expect(usual.exitCode == 0, "a good token opens")
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
    library = try VectorLibrary(directory: ConformanceVectors.directory)
    vectors = library.vectors.filter { $0.name.hasPrefix("bomb-") || Self.large.contains($0.name) }
    opener = try library.opener(for: #require(vectors.first))
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
  static func peak(_ vector: TokenVector) throws -> (kilobytes: Int, exitCode: Int) {
    let directory = FileManager.default.temporaryDirectory.appending(path: "bomb-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appending(path: "token.json").path
    try Data(vector.token).write(to: URL(filePath: file))
    let arguments = [
      try tender(), "token", "verify", file, "--root", "\(ConformanceVectors.directory)/root.pem", "--at",
      vector.arrival.description,
    ]
    return try run(arguments)
  }

  private static func run(_ arguments: [String]) throws -> (kilobytes: Int, exitCode: Int) {
    let answer = try IndependentReader.python("measure.py", arguments, input: [])
    let numbers = answer.lines.last.map { $0.split(separator: " ").compactMap { Int($0) } } ?? []
    try #require(answer.status == 0 && numbers.count == 2, "\(answer.lines.suffix(3))")
    return (numbers[1], numbers[0])
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
      Repository.url(".build/\(configuration)/tender").path,
    ]
    return try #require(places.compactMap(\.self).first { FileManager.default.isExecutableFile(atPath: $0) })
  }
}
