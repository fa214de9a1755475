import StrictJSON
import TenderPayments

/// A browser window that simulates a phone or a watch.
struct PairedDevice: Sendable, Hashable {
  enum Kind: String, Sendable { case phone, watch }

  let id: String
  /// What the sheet calls it: `Phone`, `Ada’s watch`.
  let name: String
  let kind: Kind
  var lastSeen: Timestamp
}

/// A payment that a sheet asks the shopper to confirm on a device.
struct Confirmation: Sendable, Hashable {
  enum State: String, Sendable { case waiting, approved, cancelled }

  let id: String
  let device: String
  /// What the device shows: merchant, total, currency, card, page.
  let payment: JSONValue
  private(set) var state = State.waiting

  /// - Throws: `JSONError` when the payment lacks something that the shopper has to see.
  init(id: String, device: String, asking payment: JSONField) throws {
    var shown = JSONObject()
    for name in ["merchant", "amount", "currency", "card"] { shown[name] = .string(try payment.member(name).string) }
    shown["page"] = .string(try payment.memberIfPresent("page")?.string ?? "")
    self.id = id
    self.device = device
    self.payment = .object(shown)
  }

  /// Ends the wait; a confirmation that has ended stays as it is.
  mutating func end(_ state: State) {
    if self.state == .waiting { self.state = state }
  }
}

extension PairedDevice {
  var json: JSONValue { ["id": .string(id), "name": .string(name), "kind": .string(kind.rawValue)] }
}

extension Confirmation {
  var json: JSONValue { ["id": .string(id), "state": .string(state.rawValue), "payment": payment] }
}
