import Administration
import HTTPServing
import HTTPTypes
import TenderPayments

/// A form that was refused, shown again in the HTML of its page: with what was typed, without secrets, and with the reason
/// at its field. It keeps its idempotency key, unless that is spent: what it asked for may have been done all the same.
struct RefusedForm {
  let method: HTTPRequest.Method
  let path: String
  let sent: OfficeForm
  let refusal: OfficeRefusal

  func shown(in html: String) -> String {
    var pieces = HTMLPieces(html).pieces
    guard let form = place(in: pieces) else {
      if let main = pieces.firstIndex(where: { $0.isTag("main") }) { pieces.insert(reason, at: main + 1) }
      return pieces.joined
    }
    let hasPlace = pieces[form].contains { isWrong($0) && !$0.isHidden }
    var shown = filled(pieces[form], form.lowerBound)
    if !hasPlace { shown.insert(reason, at: 1) }
    for index in shown.indices where shown[index].isTag("details") { shown[index]["open"] = "" }
    pieces.replaceSubrange(form, with: shown)
    openDetails(around: form.lowerBound, &pieces)
    return pieces.joined
  }

  /// As it is: it may begin with what was typed.
  private var words: String { refusal.reason.escaped(.markup) }

  /// Browsers show what has the focus, however far down the page it is.
  private var reason: HTMLPieces.Piece {
    .text("<p class=\"error\" role=\"alert\" tabindex=\"-1\" autofocus>\(words)</p>")
  }

  /// The form that was sent: of several for one address, as in the rows of a table, that with the same hidden fields.
  private func place(in pieces: [HTMLPieces.Piece]) -> Range<Int>? {
    let starts = pieces.indices.filter { pieces[$0].isTag("form") }
    let forms = starts.compactMap { start -> Range<Int>? in
      guard let end = pieces[start...].firstIndex(where: { $0.isTag("/form") }) else { return nil }
      return pieces[start].has("post", as: "method") == (method == .post)
        && pieces[start..<end].contains(where: isSentHere) ? start..<end : nil
    }
    let same = forms.first { form in
      pieces[form].filter { $0.isHidden && !$0.has("csrf", as: "name") }.allSatisfy {
        $0.has(sent.raw($0["name"] ?? "").escaped(.markup), as: "value")
      }
    }
    return same ?? (forms.count == 1 ? forms.first : nil)
  }

  private func isWrong(_ piece: HTMLPieces.Piece) -> Bool { refusal.field.map { piece.has($0, as: "name") } ?? false }

  private func isSentHere(_ piece: HTMLPieces.Piece) -> Bool {
    guard let address = piece["action"] ?? piece["formaction"] else { return false }
    return address.utf8.prefix { $0 != UInt8(ascii: "?") }.elementsEqual(path.escaped(.markup).utf8)
  }

  private func filled(_ form: ArraySlice<HTMLPieces.Piece>, _ start: Int) -> [HTMLPieces.Piece] {
    var (result, rest, isMarked) = ([HTMLPieces.Piece](), form, false)
    while var piece = rest.popFirst() {
      if piece.isHidden, piece.has("key", as: "name"), sent.isChecked("key"), !refusal.isKeySpent {
        piece["value"] = sent["key"].escaped(.markup)
      }
      guard piece.isField, let name = piece["name"], !piece.isHidden else {
        result.append(piece)
        continue
      }
      let isWrong = !isMarked && isWrong(piece)
      if isWrong { piece.mark() }
      isMarked = isMarked || isWrong
      if piece.isTag("input") { fill(&piece, sent.raw(name)) }
      result.append(piece)
      if !piece.isTag("input") {
        let end = rest.firstIndex { $0.isTag("/textarea") || $0.isTag("/select") } ?? rest.endIndex
        result += inside(piece, rest[..<end], sent.raw(name)) + rest[end...].prefix(1)
        rest = rest[end...].dropFirst()
      }
      guard isWrong else { continue }
      if rest.first?.isTag("/label") == true { rest.popFirst().map { result.append($0) } }
      result.append(
        .text("<span class=\"error\" role=\"alert\" id=\"refused\">\(words)</span>"))
    }
    return result
  }

  private func fill(_ input: inout HTMLPieces.Piece, _ typed: String) {
    switch input["type"] {
    case "password", "file": break
    case "checkbox":
      let value = input["value"] ?? "on"
      input["checked"] =
        sent.all(input["name"] ?? "").contains { $0.escaped(.markup).utf8.elementsEqual(value.utf8) } ? "" : nil
    default:
      guard !input.has("one-time-code", as: "autocomplete") else { return }
      let isProposed = isWrong(input) && typed.isEmpty
      input["value"] = (isProposed ? refusal.proposal ?? "" : typed).escaped(.markup)
    }
  }

  /// The text of a text area, or the options of a choice.
  private func inside(
    _ field: HTMLPieces.Piece, _ content: ArraySlice<HTMLPieces.Piece>, _ typed: String
  ) -> [HTMLPieces.Piece] {
    // A private key in the certificate's place is not sent back.
    let typed = typed.contains("PRIVATE KEY") ? "" : typed.escaped(.markup)
    // Browsers leave out the first line break.
    if field.isTag("textarea") { return [.text("\n" + typed)] }
    return content.indices.map { index in
      var option = content[index]
      guard option.isTag("option") else { return option }
      let value = option["value"] ?? content[index...].dropFirst().first?.text ?? ""
      option["selected"] = value.utf8.elementsEqual(typed.utf8) ? "" : nil
      return option
    }
  }

  private func openDetails(around form: Int, _ pieces: inout [HTMLPieces.Piece]) {
    var depth = 0
    for index in pieces[..<form].indices.reversed() {
      if pieces[index].isTag("/details") { depth += 1 }
      guard pieces[index].isTag("details") else { continue }
      depth -= 1
      if depth < 0 { pieces[index]["open"] = "" }
    }
  }
}

/// HTML as the office's own templates write it: attributes in double quotes, and every mark of a value escaped.
struct HTMLPieces {
  private(set) var pieces: [Piece] = []

  enum Piece {
    case text(String)
    case tag(name: String, attributes: [(name: String, value: String?)])
  }

  init(_ html: String) {
    var rest = Array(html.utf8)[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "<")) {
      if open > rest.startIndex { pieces.append(.text(String(decoding: rest[..<open], as: UTF8.self))) }
      var isQuoted = false
      let tag = rest[open...].dropFirst().prefix { byte in
        if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
        return isQuoted || byte != UInt8(ascii: ">")
      }
      pieces.append(Self.tag(tag))
      rest = rest[tag.endIndex...].dropFirst()
    }
    if !rest.isEmpty { pieces.append(.text(String(decoding: rest, as: UTF8.self))) }
  }

  private static func tag(_ bytes: ArraySlice<UInt8>) -> Piece {
    var isQuoted = false
    let words = bytes.split { byte in
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      return !isQuoted && (byte == 0x20 || byte == 0x0A)
    }
    let attributes = words.dropFirst().map { word -> (name: String, value: String?) in
      let name = word.prefix { $0 != UInt8(ascii: "=") }
      let value = word[name.endIndex...].dropFirst().filter { $0 != UInt8(ascii: "\"") }
      return (
        String(decoding: name, as: UTF8.self),
        name.endIndex == word.endIndex ? nil : String(decoding: value, as: UTF8.self)
      )
    }
    return .tag(name: String(decoding: words.first ?? [], as: UTF8.self), attributes: attributes)
  }
}

extension HTMLPieces.Piece {
  fileprivate func isTag(_ wanted: String) -> Bool {
    guard case .tag(let name, _) = self else { return false }
    return name.utf8.elementsEqual(wanted.utf8)
  }

  fileprivate var isField: Bool { isTag("input") || isTag("textarea") || isTag("select") }
  fileprivate var isHidden: Bool { has("hidden", as: "type") }

  fileprivate func has(_ value: String, as attribute: String) -> Bool {
    self[attribute].map { $0.utf8.elementsEqual(value.utf8) } ?? false
  }

  fileprivate var text: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }

  /// The escaped value of an attribute; empty for one without a value, nil for one that is not there.
  fileprivate subscript(_ wanted: String) -> String? {
    get {
      guard case .tag(_, let attributes) = self else { return nil }
      return attributes.first { $0.name.utf8.elementsEqual(wanted.utf8) }.map { $0.value ?? "" }
    }
    set {
      guard case .tag(let name, var attributes) = self else { return }
      attributes.removeAll { $0.name.utf8.elementsEqual(wanted.utf8) }
      if let newValue { attributes.append((wanted, newValue)) }
      self = .tag(name: name, attributes: attributes)
    }
  }

  /// As the field of the reason, for eyes and for screen readers.
  fileprivate mutating func mark() {
    self["aria-invalid"] = "true"
    self["aria-describedby"] = "refused" + (self["aria-describedby"].map { " \($0)" } ?? "")
    self["autofocus"] = ""
  }

  fileprivate var html: String {
    switch self {
    case .text(let text): text
    case .tag(let name, let attributes):
      "<\(name)" + attributes.map { " \($0.name)" + ($0.value.map { "=\"\($0)\"" } ?? "") }.joined() + ">"
    }
  }
}

extension [HTMLPieces.Piece] {
  fileprivate var joined: String { map(\.html).joined() }
}
