import CYaml
import StrictJSON

/// Refuses, before a document is made of it, YAML that can become far more than its text, where a node that an anchor names
/// counts again at each of its aliases, and texts that are dear to compare, which escapes and folded lines can hide.
enum PlainYAML {
  enum Trouble: Error {
    case anchor(line: UInt)
    case deep(line: UInt)
    case marks(line: UInt)

    var line: UInt {
      switch self {
      case .anchor(let line), .deep(let line), .marks(let line): line
      }
    }

    var reason: String {
      switch self {
      case .anchor: "anchors (&) and aliases (*) are not read; write the value out, or in quotation marks"
      case .deep: "there are more than \(mostLevels) levels"
      case .marks: "there are more than \(StreamSafeText.longestRun) combining marks in a row"
      }
    }
  }

  private static let mostLevels = 16

  /// What is no YAML passes: the parser says why.
  static func check(_ text: String) throws(Trouble) {
    let bytes = Array(text.utf8)
    let trouble = bytes.withUnsafeBufferPointer { bytes -> Trouble? in
      var parser = yaml_parser_t()
      guard yaml_parser_initialize(&parser) == 1 else { return nil }
      defer { yaml_parser_delete(&parser) }
      yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING)
      yaml_parser_set_input_string(&parser, bytes.baseAddress, bytes.count)
      return Self.trouble(in: &parser)
    }
    if let trouble { throw trouble }
  }

  private static func trouble(in parser: inout yaml_parser_t) -> Trouble? {
    var (level, isAtEnd) = (0, false)
    while !isAtEnd {
      var event = yaml_event_t()
      guard yaml_parser_parse(&parser, &event) == 1 else { return nil }
      defer { yaml_event_delete(&event) }
      let line = UInt(clamping: event.start_mark.line) + 1
      switch event.type {
      case YAML_ALIAS_EVENT: return .anchor(line: line)
      case YAML_SCALAR_EVENT:
        if event.data.scalar.anchor != nil { return .anchor(line: line) }
        let text = UnsafeBufferPointer(start: event.data.scalar.value, count: event.data.scalar.length)
        if !StreamSafeText.accepts(String(decoding: text, as: UTF8.self)) { return .marks(line: line) }
      case YAML_SEQUENCE_START_EVENT:
        if event.data.sequence_start.anchor != nil { return .anchor(line: line) }
        level += 1
      case YAML_MAPPING_START_EVENT:
        if event.data.mapping_start.anchor != nil { return .anchor(line: line) }
        level += 1
      case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: level -= 1
      default: isAtEnd = event.type == YAML_STREAM_END_EVENT
      }
      if level > mostLevels { return .deep(line: line) }
    }
    return nil
  }
}
