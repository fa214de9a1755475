import ApplePayToken
import MerchantIdentity
import Storage

/// What is wrong with a configuration, collected so that all of it is reported at once.
package struct ProblemList {
  private(set) var problems: [ConfigurationError] = []

  package init(problems: [ConfigurationError] = []) {
    self.problems = problems
  }

  mutating func add(_ problem: ConfigurationError) { problems.append(problem) }

  /// Runs one check, and keeps its error.
  ///
  /// - Parameters:
  ///   - key: the file or setting that is checked, for errors that name none.
  ///   - place: where the setting is written.
  /// - Returns: nil when the check failed.
  @discardableResult
  mutating func attempt<R>(_ key: String, at place: String? = nil, _ check: () throws -> R) -> R? {
    do { return try check() } catch {
      problems.append(ConfigurationError(error, of: key, at: place))
      return nil
    }
  }

  /// By file, in the order in which the files were read, and by line within a file.
  package var inOrderOfLines: [ConfigurationError] {
    let places = problems.map { Self.split($0.place ?? $0.key) }
    let files = places.map(\.file)
    let order = problems.indices.sorted { left, right in
      let (first, second) = (files.firstIndex(of: files[left]) ?? 0, files.firstIndex(of: files[right]) ?? 0)
      return (first, places[left].line, left) < (second, places[right].line, right)
    }
    return order.map { problems[$0] }
  }

  /// `tender.yaml:3` as file and line; a line of 0 where there is none.
  private static func split(_ place: String) -> (file: String, line: Int) {
    guard let colon = place.lastIndex(of: ":"), let line = Int(place[place.index(after: colon)...]) else {
      return (place, 0)
    }
    return (String(place[..<colon]), line)
  }

  /// For a caller that stops at the first one.
  package func throwFirst() throws {
    if let first = problems.first { throw first }
  }
}

extension ConfigurationError {
  fileprivate init(_ error: any Error, of key: String, at place: String?) {
    switch error {
    case let error as ConfigurationError: self = error
    case let error as MerchantIdentityError: self.init(key, "\(error.reason) \(error.advice)", place: place)
    case let error as PaymentTokenError: self.init(key, "\(error.reason). \(error.advice)", place: place)
    case let error as PrivateFileError: self.init(error.path, error.reason)
    default: self.init(key, "\(error)", place: place)
    }
  }
}
