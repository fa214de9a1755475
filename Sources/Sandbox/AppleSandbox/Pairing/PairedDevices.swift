import StrictJSON
import TenderPayments

/// Phones and watches that confirm what a sheet on another screen asks, as an iPhone confirms for a Mac.
///
/// Each is a window that shows `/device`. It is present as long as it keeps asking what to confirm.
actor PairedDevices {
  private let clock: WallClock
  private let random: RandomBytes
  private var devices: [PairedDevice] = []
  private var confirmations: [Confirmation] = []

  /// A browser runs a hidden window's timers once a minute, so a device counts as absent only after longer than that.
  static let timeout: Duration = .seconds(90)
  static let maximumDevices = 20
  /// How many confirmations are kept, so that a sheet that asks late still gets its answer.
  static let maximumConfirmations = 100

  init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  /// The present devices, oldest first.
  var present: [PairedDevice] {
    removeAbsent()
    return devices
  }

  func pair(_ name: String, _ kind: PairedDevice.Kind) throws(SandboxProblem) -> PairedDevice {
    removeAbsent()
    guard devices.count < Self.maximumDevices else { throw .tooManyDevices }
    let device = PairedDevice(id: random.hex(8), name: name, kind: kind, lastSeen: clock.now())
    devices.append(device)
    return device
  }

  /// Removes a closed window, and cancels what it was to confirm.
  func leave(_ id: String) {
    devices.removeAll { $0.id == id }
    for index in confirmations.indices where confirmations[index].device == id {
      confirmations[index].end(.cancelled)
    }
  }

  // MARK: The device's side

  /// The confirmation that waits on this device, if any; the call also shows that the device is present.
  func waiting(for id: String) throws(SandboxProblem) -> Confirmation? {
    guard let index = devices.firstIndex(where: { $0.id == id }) else { throw .noSuchDevice }
    devices[index].lastSeen = clock.now()
    return confirmations.first { $0.device == id && $0.state == .waiting }
  }

  func answer(_ confirmation: String, on id: String, isApproved: Bool) throws(SandboxProblem) {
    let index = try index(of: confirmation)
    guard confirmations[index].device == id else { throw .noSuchConfirmation }
    confirmations[index].end(isApproved ? .approved : .cancelled)
  }

  // MARK: The sheet's side

  /// Shows a payment on a device, and cancels an older one there.
  func ask(_ id: String, _ payment: JSONField) throws -> Confirmation {
    guard present.contains(where: { $0.id == id }) else { throw SandboxProblem.noSuchDevice }
    for index in confirmations.indices where confirmations[index].device == id {
      confirmations[index].end(.cancelled)
    }
    let confirmation = try Confirmation(id: random.hex(16), device: id, asking: payment)
    confirmations.append(confirmation)
    confirmations.removeFirst(max(0, confirmations.count - Self.maximumConfirmations))
    return confirmation
  }

  /// The state of a confirmation; it is cancelled if its device is absent.
  func confirmation(_ id: String) throws(SandboxProblem) -> Confirmation {
    let index = try index(of: id)
    let device = confirmations[index].device
    if !present.contains(where: { $0.id == device }) { confirmations[index].end(.cancelled) }
    return confirmations[index]
  }

  /// Cancels a confirmation because its sheet was closed or pays in another way.
  func withdraw(_ id: String) throws(SandboxProblem) {
    confirmations[try index(of: id)].end(.cancelled)
  }

  private func index(of confirmation: String) throws(SandboxProblem) -> Int {
    guard let index = confirmations.firstIndex(where: { $0.id == confirmation }) else { throw .noSuchConfirmation }
    return index
  }

  private func removeAbsent() {
    let now = clock.now()
    devices.removeAll { now.since($0.lastSeen) > Self.timeout }
  }
}

extension SandboxProblem {
  fileprivate static let noSuchDevice = SandboxProblem(
    status: 404, code: "device_unknown", message: "No such phone or watch is paired; open /device in another window.")
  fileprivate static let noSuchConfirmation = SandboxProblem(
    status: 404, code: "confirmation_unknown", message: "Nothing of this name is or was to be confirmed.")
  fileprivate static let tooManyDevices = SandboxProblem(
    status: 409, code: "too_many_devices",
    message: "\(PairedDevices.maximumDevices) phones and watches are paired; close one of their windows.")
}
