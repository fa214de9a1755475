import Foundation

/// `make bench`: how fast a payment token is opened, measured against the cryptography that it cannot do without.
///
/// Primitives and pipeline run in turns in one process, on the same BoringSSL, so that a busy machine slows both and
/// their ratio stays. Prints one line a figure, `bench: NAME VALUE UNIT`.
@main
struct TenderBench {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    let directory = arguments.first ?? "Tests/Vectors/apple-pay-token"
    let rounds = arguments.dropFirst().first.flatMap { Int($0) } ?? 40
    let elliptic = try BenchToken(directory: directory, name: "ec-v1")
    let rsa = try BenchToken(directory: directory, name: "rsa-v1")
    let primitives = try Primitives()
    try ellipticCurve(elliptic, primitives, rounds: rounds)
    try rsaFigures(rsa, rounds: rounds)
    try await TwoCores(elliptic).run(rounds: rounds)
  }

  private static func ellipticCurve(_ token: BenchToken, _ primitives: Primitives, rounds: Int) throws {
    let cached = try token.opener()
    let times = try Rounds(
      count: rounds,
      [
        .init("verify.p256", batch: 40) { try primitives.verifyP256() },
        .init("verify.p384", batch: 4) { try primitives.verifyP384() },
        .init("ecdh.p256", batch: 40) { try primitives.agree() },
        .init("cold", batch: 4) { try token.open(with: token.opener()) },
        .init("cached", batch: 20) { try token.open(with: cached) },
        .init("read", batch: 100) { _ = try token.read() },
      ]
    ).run()
    let (p256, p384, ecdh) = (times["verify.p256"], times["verify.p384"], times["ecdh.p256"])
    report("primitive.verify.p256", p256.microseconds, "us")
    report("primitive.verify.p384", p384.microseconds, "us")
    report("primitive.ecdh.p256", ecdh.microseconds, "us")
    report("token.ec.cold", times["cold"].microseconds, "us")
    report("token.ec.cached", times["cached"].microseconds, "us")
    report("token.ec.json", times["read"].microseconds, "us")
    report("token.ec.cached.rate", 1 / times["cached"].seconds, "tokens/s/core")
    report(
      "token.ec.cold.ratio", (p256.seconds * 2 + p384.seconds + ecdh.seconds) / times["cold"].seconds, "of-primitives")
    report("token.ec.cached.ratio", (p256.seconds + ecdh.seconds) / times["cached"].seconds, "of-primitives")
  }

  private static func rsaFigures(_ token: BenchToken, rounds: Int) throws {
    let cached = try token.opener()
    let times = try Rounds(
      count: rounds,
      [
        .init("cold", batch: 2) { try token.open(with: token.opener()) },
        .init("cached", batch: 2) { try token.open(with: cached) },
      ]
    ).run()
    report("token.rsa.cold", times["cold"].microseconds, "us")
    report("token.rsa.cached", times["cached"].microseconds, "us")
    report("token.rsa.cached.rate", 1 / times["cached"].seconds, "tokens/s/core")
  }
}

func report(_ name: String, _ value: Double, _ unit: String) {
  let text = String(format: value < 10 ? "%.3f" : "%.1f", value)
  print("bench: \(name) \(text) \(unit)")
}
