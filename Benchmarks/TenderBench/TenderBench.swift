import Foundation
import TokenVectors

/// `make bench`: how fast a payment token is opened, measured against the cryptography that it cannot do without.
///
/// Primitives and pipeline run in turns in one process, on the same BoringSSL, so that a busy machine slows both and
/// their ratio stays. Prints one line a figure, `bench: NAME VALUE UNIT`, and `missed: NAME` below one that misses its
/// bar.
///
///     TenderBench one-core|two-cores DIRECTORY [ROUNDS]
@main
struct TenderBench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { throw BenchError(reason: "TenderBench one-core|two-cores DIRECTORY [ROUNDS]") }
    let rounds = arguments.count > 3 ? Int(arguments[3]) ?? 60 : 60
    let library = try VectorLibrary(directory: arguments[2])
    let elliptic = try BenchToken(library, "ec-v1")
    if arguments[1] == "two-cores" { return try await TwoCores(elliptic, Primitives()).run(rounds: rounds) }
    try ellipticCurve(elliptic, Primitives(), rounds: rounds)
    try rsa(BenchToken(library, "rsa-v1"), rounds: rounds)
  }

  private static func ellipticCurve(_ token: BenchToken, _ primitives: Primitives, rounds: Int) throws {
    let opener = token.opener()
    let times = try Rounds(
      count: rounds,
      [
        .init("p256", batch: 40) { try primitives.verifyP256() },
        .init("p384", batch: 4) { try primitives.verifyP384() },
        .init("ecdh", batch: 40) { try primitives.agree() },
        .init("cold", batch: 4) { try token.open(with: token.opener()) },
        .init("cached", batch: 20) { try token.open(with: opener) }, .init("json", batch: 100) { _ = try token.read() },
      ]
    ).run()
    report("primitive.verify.p256", times["p256"].microseconds, "us")
    report("primitive.verify.p384", times["p384"].microseconds, "us")
    report("primitive.ecdh.p256", times["ecdh"].microseconds, "us")
    report("token.ec.json", times["json"].microseconds, "us")
    let needed = times["p256"].seconds + times["ecdh"].seconds
    reportOpening("token.ec", times)
    report(
      "token.ec.cold.ratio", (needed + (times["p256"] + times["p384"]).seconds) / times["cold"].seconds,
      "of-primitives", bar: 0.92)
    report("token.ec.cached.ratio", needed / times["cached"].seconds, "of-primitives", bar: 0.85)
  }

  private static func rsa(_ token: BenchToken, rounds: Int) throws {
    let opener = token.opener()
    let times = try Rounds(
      count: rounds,
      [
        .init("cold", batch: 2) { try token.open(with: token.opener()) },
        .init("cached", batch: 2) { try token.open(with: opener) },
      ]
    ).run()
    reportOpening("token.rsa", times)
  }

  private static func reportOpening(_ name: String, _ times: Rounds.Times) {
    report("\(name).cold", times["cold"].microseconds, "us")
    report("\(name).cached", times["cached"].microseconds, "us")
    report("\(name).cached.rate", 1 / times["cached"].seconds, "tokens/s/core")
  }
}

/// - Parameter bar: the least that meets it; nil where the figure has none.
func report(_ name: String, _ value: Double, _ unit: String, bar: Double? = nil) {
  print("bench: \(name) \(String(format: value < 10 ? "%.3f" : "%.1f", value)) \(unit)")
  if let bar, !(value >= bar) { print("missed: \(name), the bar is \(bar) or more") }
}
