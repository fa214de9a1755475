import StrictJSON

/// A GraphQL document with one operation of one field, whose argument is the variable `input`: what a caller of the
/// emulated Braintree sends.
struct BraintreeQuery: Sendable {
  indirect enum Selection: Sendable {
    case field(name: String, alias: String?, [Selection])
    case fragment(type: String, [Selection])
  }

  let isMutation: Bool
  let field: String
  let alias: String?
  let takesInput: Bool
  let selections: [Selection]

  /// Nil for what is not such a document.
  init?(_ text: String) {
    guard var tokens = BraintreeQueryTokens(text) else { return nil }
    let kind = tokens.take(if: ["query", "mutation"]) ?? "query"
    isMutation = kind == "mutation"
    if tokens.next != "(", tokens.next != "{" { _ = tokens.take() }
    guard tokens.skipVariables(), tokens.expect("{"), let name = tokens.takeName() else { return nil }
    (field, alias) = tokens.takeAliased(name)
    guard let takesInput = tokens.takeArguments(), let selections = tokens.takeSelections() else { return nil }
    (self.takesInput, self.selections) = (takesInput, selections)
    guard tokens.expect("}"), tokens.next == nil else { return nil }
  }

  /// What was selected of the value; nil when a field is selected that the type does not have, or an object as a whole.
  static func select(_ selections: [Selection], of value: JSONValue) -> JSONValue? {
    switch value {
    case .null: return .null
    case .array(let elements):
      let selected = elements.compactMap { select(selections, of: $0) }
      return selected.count == elements.count ? .array(selected) : nil
    case .object(let object): return select(selections, of: object).map(JSONValue.object)
    default: return selections.isEmpty ? value : nil
    }
  }

  private static func select(_ selections: [Selection], of object: JSONObject) -> JSONObject? {
    guard !selections.isEmpty else { return nil }
    var selected: JSONObject = [:]
    for selection in selections {
      switch selection {
      case .field(let name, let alias, let inner):
        guard let value = object[name], let chosen = select(inner, of: value) else { return nil }
        selected[alias ?? name] = chosen
      case .fragment(let type, let inner):
        guard object["__typename"] == .string(type) else { continue }
        guard let chosen = select(inner, of: object) else { return nil }
        for (name, value) in chosen.members { selected[name] = value }
      }
    }
    return selected
  }
}

private struct BraintreeQueryTokens {
  private var tokens: ArraySlice<String>

  init?(_ text: String) {
    var tokens: [String] = []
    var rest = text[...]
    while let character = rest.first {
      if character.isWhitespace || character == "," {
        rest = rest.dropFirst()
      } else if let match = rest.prefixMatch(of: /[A-Za-z_][A-Za-z0-9_]*|\.\.\.|[{}():!$\[\]=]/) {
        tokens.append(String(match.output))
        rest = rest[match.range.upperBound...]
      } else {
        return nil
      }
    }
    self.tokens = tokens[...]
  }

  var next: String? { tokens.first }

  mutating func take() -> String? { tokens.popFirst() }

  mutating func take(if words: Set<String>) -> String? {
    next.flatMap { words.contains($0) ? tokens.popFirst() : nil }
  }

  mutating func expect(_ token: String) -> Bool { take(if: [token]) != nil }

  mutating func takeName() -> String? {
    guard let first = next?.first, first.isLetter || first == "_" else { return nil }
    return take()
  }

  /// A field's name, and before it perhaps its alias.
  mutating func takeAliased(_ name: String) -> (name: String, alias: String?) {
    guard next == ":" else { return (name, nil) }
    _ = take()
    return (takeName() ?? "", name)
  }

  /// `($input: SomeInput!)`
  mutating func skipVariables() -> Bool {
    guard expect("(") else { return true }
    while let token = take() { if token == ")" { return true } }
    return false
  }

  /// Whether there is an `input`; nil for arguments of another form.
  mutating func takeArguments() -> Bool? {
    guard expect("(") else { return false }
    let isInput = ["input", ":", "$"].allSatisfy { expect($0) }
    return isInput && takeName() != nil && expect(")") ? true : nil
  }

  mutating func takeSelections() -> [BraintreeQuery.Selection]? {
    guard expect("{") else { return [] }
    var selections: [BraintreeQuery.Selection] = []
    while !expect("}") {
      guard let selection = takeSelection() else { return nil }
      selections.append(selection)
    }
    return selections
  }

  private mutating func takeSelection() -> BraintreeQuery.Selection? {
    if expect("...") {
      guard expect("on"), let type = takeName(), let inner = takeSelections() else { return nil }
      return .fragment(type: type, inner)
    }
    guard let first = takeName() else { return nil }
    let (name, alias) = takeAliased(first)
    return takeSelections().map { .field(name: name, alias: alias, $0) }
  }
}
