/// A content coding in which embedded files are kept (RFC 9110, section 8.4.1), by its name there. The one that makes
/// files smaller comes first.
enum ContentCoding: String, CaseIterable {
  case brotli = "br"
  case gzip
}

/// What a caller says that it can decode: the field `Accept-Encoding` (RFC 9110, section 12.5.3).
struct AcceptedCodings {
  private static let highest = 1000
  /// Thousandths, by name in small letters. What is not listed is not accepted, but for "*" and "identity".
  private let weights: [String: Int]

  /// - Parameter field: nil when the caller sends none; it then gets the file as it is.
  init(_ field: String?) {
    let items = (field ?? "").filter { $0 != " " && $0 != "\t" }.lowercased().split(separator: ",")
    weights = items.reduce(into: [:]) { weights, item in
      let parts = item.split(separator: ";").map(String.init)
      guard let name = parts.first else { return }
      weights[name] = parts.dropFirst().first.map(Self.weight) ?? Self.highest
    }
  }

  /// The first of `codings` that the caller likes at least as much as all others and the file as it is; nil for the file
  /// as it is, also when the caller refuses that too.
  func best(of codings: [ContentCoding]) -> ContentCoding? {
    let liked = codings.map { ($0, weight($0.rawValue)) }.filter { $0.1 > 0 }
    guard let most = liked.map(\.1).max(), most >= weights["identity"] ?? 0 else { return nil }
    return liked.first { $0.1 == most }?.0
  }

  private func weight(_ name: String) -> Int { weights[name] ?? weights["*"] ?? 0 }

  /// `q=0.5` in thousandths; 0 for what is no weight, so that a coding is not used by mistake.
  private static func weight(_ parameter: String) -> Int {
    guard let match = parameter.wholeMatch(of: /q=([01])(?:\.(\d{0,3}))?/) else { return 0 }
    return min(Int(match.1 + ((match.2 ?? "") + "000").prefix(3)) ?? 0, highest)
  }
}
