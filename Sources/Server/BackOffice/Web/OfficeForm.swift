import Administration
import HTTPServing
import Hummingbird
import TenderPayments

/// What a form holds: fields, and files that a person has chosen.
struct OfficeForm: Sendable {
  /// What is read of a body before the session and the form's token are known to be right.
  static let beginning = 64 << 10
  /// The most bytes of one field.
  static let longestField = 64 << 10
  /// The most bytes of a form without a file.
  static let limit = 256 << 10
  /// The most bytes of a form with a file.
  static let fileLimit = 16 << 20
  /// The most bytes of all bodies together that are longer than a beginning. Those of one user have ``fileLimit``.
  static let limitOfAll = 2 * fileLimit

  static let empty = OfficeForm(FormFields(pairs: []))

  private let fields: FormFields
  private let files: [(name: String, file: OfficeFile)]
  /// The memory that a long body has reserved, for as long as the form exists.
  var share: BodyBudget.Share?

  private init(_ fields: FormFields, _ files: [(name: String, file: OfficeFile)] = []) {
    (self.fields, self.files) = (fields, files)
  }

  /// - Parameters:
  ///   - contentType: of the request. What is not `multipart/form-data` is read as `application/x-www-form-urlencoded`.
  ///   - isWhole: false for the beginning of a body, whose last field is left out.
  /// - Returns: nil for a body that is no form, and for a field that is too long or that ``RequestText`` refuses.
  init?(_ body: [UInt8], _ contentType: String, isWhole: Bool = true) {
    if Self.isMultipart(contentType) {
      guard let form = MultipartForm(body, contentType, isWhole: isWhole), Self.areShort(form.fields) else {
        return nil
      }
      self.init(FormFields(pairs: form.fields), form.files)
    } else {
      let end = isWhole ? body.endIndex : body.lastIndex(of: UInt8(ascii: "&")) ?? body.startIndex
      guard let fields = FormFields(body[..<end]), Self.areShort(fields.pairs) else { return nil }
      self.init(fields)
    }
  }

  private static func areShort(_ fields: [(name: String, value: String)]) -> Bool {
    fields.allSatisfy { $0.value.utf8.count <= longestField }
  }

  static func isMultipart(_ contentType: String) -> Bool {
    contentType.utf8.lazy.map { $0 | 0x20 }.starts(with: "multipart/form-data".utf8)
  }

  /// Without spaces around it; empty when it is absent.
  subscript(_ name: String) -> String {
    let bytes = Array(raw(name).utf8)
    guard let first = bytes.firstIndex(where: Self.isInk), let last = bytes.lastIndex(where: Self.isInk) else {
      return ""
    }
    return String(decoding: bytes[first...last], as: UTF8.self)
  }

  /// As it was sent: a password may begin with a space.
  func raw(_ name: String) -> String { fields[name] ?? "" }

  func all(_ name: String) -> [String] { fields.all(name) }

  /// Nil where none was sent.
  func file(_ name: String) -> OfficeFile? { files.first { $0.name.utf8.elementsEqual(name.utf8) }?.file }

  func isChecked(_ name: String) -> Bool { fields[name] != nil }

  private static func isInk(_ byte: UInt8) -> Bool { byte != 0x20 && !(0x09...0x0D).contains(byte) }
}

extension OfficeForm {
  /// Why a person does it, for the audit chain.
  ///
  /// - Throws: ``OfficeRefusal`` when it is empty or too long.
  var reason: String {
    get throws {
      let text = self["reason"]
      guard (1...500).contains(text.utf8.count) else {
        throw OfficeRefusal.badRequest("Say in 1 to 500 bytes why you do this.", at: "reason")
      }
      return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }
}
