/// The drawing of the house: which rooms there are, on which floor, and who may know whom on the same floor.
///
/// `docs/rooms.md` says the same in sentences. A new room is added here, there and in `Package.swift`.
struct House {
  enum Floor: Int, Comparable {
    case ground, skills, decisions, doors
    static func < (left: Floor, right: Floor) -> Bool { left.rawValue < right.rawValue }
  }

  struct Room {
    let name: String
    let floor: Floor
    /// Goes into other people's apps (◆).
    var isPortable = false
    /// Rooms of the same floor that it may import.
    var arrows: Set<String> = []
    /// When set, the only rooms it may import.
    var only: Set<String>?
    /// Frameworks of the system that a ◆ room may import beside Foundation.
    var frameworks: Set<String> = []
  }

  let rooms: [Room]

  func room(_ name: String) -> Room? { rooms.first { $0.name == name } }

  /// Whether `room` may import `other`, both of the house.
  func allows(_ room: Room, _ other: Room) -> Bool {
    if let only = room.only { return only.contains(other.name) }
    if room.isPortable && !other.isPortable { return false }
    return other.floor < room.floor || room.arrows.contains(other.name)
  }

  static let ground: Set<String> = ["TenderPayments", "StrictJSON", "HTTPTransport", "Storage"]

  static let drawing = House(rooms: [
    // TenderPayments imports nothing of ours, the rest of the ground nothing but it.
    Room(name: "TenderPayments", floor: .ground, isPortable: true, only: []),
    Room(name: "StrictJSON", floor: .ground, isPortable: true, only: ["TenderPayments"]),
    Room(name: "HTTPTransport", floor: .ground, only: ["TenderPayments"]),
    Room(name: "Storage", floor: .ground, only: ["TenderPayments"]),

    Room(name: "ApplePayToken", floor: .skills),
    Room(name: "KeyAgent", floor: .skills, arrows: ["ApplePayToken"]),
    Room(name: "MerchantIdentity", floor: .skills),
    Room(name: "Acquiring", floor: .skills),
    Room(name: "Ledger", floor: .skills),
    // The outbox is the ledger's; who empties it writes into the same commit.
    Room(name: "Webhooks", floor: .skills, arrows: ["Ledger"]),
    Room(name: "TenderSheet", floor: .skills, isPortable: true),
    Room(name: "TenderCheckoutAPI", floor: .skills, isPortable: true, arrows: ["TenderSheet"]),
    Room(name: "PlatformAPI", floor: .skills),

    Room(name: "Gateway", floor: .decisions),
    Room(name: "Orders", floor: .decisions, arrows: ["Gateway"]),

    Room(name: "TenderCheckout", floor: .decisions, isPortable: true),
    Room(
      name: "TenderPassKit", floor: .decisions, isPortable: true, arrows: ["TenderCheckout"],
      frameworks: ["PassKit", "Contacts", "SwiftUI"]),

    Room(name: "TenderServer", floor: .doors),
    // A second opinion is worth something only from somebody who was not told the first.
    Room(name: "Sandbox", floor: .doors, only: ground.union(["ApplePayToken", "TenderSheet"])),
    // The shop is a merchant: it knows the platform API and nothing behind it.
    Room(name: "DemoShop", floor: .doors, only: ground.union(["PlatformAPI"])),
    Room(name: "TenderCLI", floor: .doors, arrows: ["TenderServer", "Sandbox", "DemoShop"]),
  ])
}
