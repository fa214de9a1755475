package import TenderPayments

/// A value with its path, so that an error names the path.
///
/// ```swift
/// let root = JSONField(try JSONReader.read(bytes))
/// let hash = try root.member("header").member("publicKeyHash").string   // or: $.header.publicKeyHash: missing
/// ```
public struct JSONField: Sendable, Hashable {
  public let value: JSONValue
  private let place: Place

  /// Formatted only for an error.
  private enum Place: Sendable, Hashable {
    case root(String)
    /// Most fields are members of the root, and this case alone needs no allocation.
    case rootMember(String, String)
    indirect case member(Place, String)
    indirect case element(Place, Int)

    func member(_ key: String) -> Place {
      if case .root(let root) = self { .rootMember(root, key) } else { .member(self, key) }
    }

    var path: String {
      switch self {
      case .root(let path): path
      case .rootMember(let root, let key): "\(root).\(key)"
      case .member(let outer, let key): "\(outer.path).\(key)"
      case .element(let outer, let index): "\(outer.path)[\(index)]"
      }
    }
  }

  /// `$` is the whole document: `$.header.publicKeyHash`, `$.items[2]`.
  public var path: String { place.path }

  public init(_ value: JSONValue, path: String = "$") {
    self.init(value, .root(path))
  }

  private init(_ value: JSONValue, _ place: Place) {
    self.value = value
    self.place = place
  }

  /// The member of this object; an error when it is missing, or when this is no object.
  public func member(_ key: String) throws(JSONError) -> JSONField {
    guard let value = try object[key] else { throw JSONError(.missing, path: "\(path).\(key)", "missing") }
    return JSONField(value, place.member(key))
  }

  /// The member of this object; nil when it is missing or null.
  public func memberIfPresent(_ key: String) throws(JSONError) -> JSONField? {
    switch try object[key] {
    case nil, .null?: return nil
    case let value?: return JSONField(value, place.member(key))
    }
  }

  public var object: JSONObject {
    get throws(JSONError) {
      guard case .object(let object) = value else { throw wrongType("an object") }
      return object
    }
  }

  public var array: [JSONField] {
    get throws(JSONError) {
      guard case .array(let elements) = value else { throw wrongType("an array") }
      return elements.enumerated().map { JSONField($0.element, .element(place, $0.offset)) }
    }
  }

  public var string: String {
    get throws(JSONError) {
      guard case .string(let text) = value else { throw wrongType("a string") }
      return text
    }
  }

  /// A whole number, written without fraction and exponent, of 64 bits.
  public var integer: Int64 {
    get throws(JSONError) {
      if case .integer(let integer) = value { return integer }
      throw wrongType("a whole number", advice: value.wholeNumber.map { "; write \($0)" } ?? "")
    }
  }

  /// A whole number within ``Amount/limit``.
  package var minorUnits: Int64 {
    get throws(JSONError) {
      let units = try integer
      guard Amount.limit.contains(units) else {
        throw JSONError(.invalid, path: path, "must have at most twelve digits")
      }
      return units
    }
  }

  /// A whole number of minor units, within ``Amount/limit``.
  package func amount(in currency: Currency) throws(JSONError) -> Amount {
    Amount(minorUnits: try minorUnits, currency: currency)
  }

  public var bool: Bool {
    get throws(JSONError) {
      guard case .bool(let bool) = value else { throw wrongType("true or false") }
      return bool
    }
  }

  private func wrongType(_ wanted: String, advice: String = "") -> JSONError {
    JSONError(.wrongType, path: path, "must be \(wanted), is \(value.kind)\(advice)")
  }
}

extension JSONValue {
  /// What `1250.0` would be without its fraction of zeros; nil for another value, and for one with as many digits as the
  /// number of a card.
  fileprivate var wholeNumber: Int64? {
    guard case .number(let text) = self else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
    return Int64(parts[0]).flatMap { Amount.limit.contains($0) ? $0 : nil }
  }
}
