import StrictJSON
import TenderPayments

/// Phones and watches that confirm what a sheet on another screen asks, as an iPhone confirms for a Mac.
///
/// Each is a window that shows `/device`. It is there as long as it keeps asking what is to be confirmed.
actor PairedDevices {
  private let clock: WallClock
  private let random: RandomBytes
  private var devices: [PairedDevice] = []
  private var confirmations: [Confirmation] = []

  /// A browser wakes a hidden window's timers once a minute, so a device is missed only after longer than that.
  static let patience: Duration = .seconds(90)
  static let maximumDevices = 20
  /// What is remembered of settled questions, so that a sheet that asks late still hears its answer.
  static let maximumConfirmations = 100

  init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  /// Those that are there, in the order in which they came.
  var present: [PairedDevice] {
    forgetAbsent()
    return devices
  }

  func pair(_ name: String, _ kind: PairedDevice.Kind) throws(SandboxProblem) -> PairedDevice {
    forgetAbsent()
    guard devices.count < Self.maximumDevices else { throw .tooManyDevices }
    let device = PairedDevice(id: random.hex(8), name: name, kind: kind, lastSeen: clock.now())
    devices.append(device)
    return device
  }

  /// The window was closed; what it was to confirm is cancelled.
  func leave(_ id: String) {
    devices.removeAll { $0.id == id }
    for index in confirmations.indices where confirmations[index].device == id {
      confirmations[index].settle(.cancelled)
    }
  }

  // MARK: The device's side

  /// What waits for the shopper on this device, if anything; asking is a sign of life.
  func waiting(for id: String) throws(SandboxProblem) -> Confirmation? {
    guard let index = devices.firstIndex(where: { $0.id == id }) else { throw .noSuchDevice }
    devices[index].lastSeen = clock.now()
    return confirmations.first { $0.device == id && $0.state == .waiting }
  }

  func answer(_ confirmation: String, on id: String, isApproved: Bool) throws(SandboxProblem) {
    let index = try index(of: confirmation)
    guard confirmations[index].device == id else { throw .noSuchConfirmation }
    confirmations[index].settle(isApproved ? .approved : .cancelled)
  }

  // MARK: The sheet's side

  /// Puts a payment in front of the shopper on a device. An older question of the same device is gone.
  func ask(_ id: String, _ payment: JSONField) throws -> Confirmation {
    guard present.contains(where: { $0.id == id }) else { throw SandboxProblem.noSuchDevice }
    for index in confirmations.indices where confirmations[index].device == id {
      confirmations[index].settle(.cancelled)
    }
    let confirmation = try Confirmation(id: random.hex(16), device: id, asking: payment)
    confirmations.append(confirmation)
    confirmations.removeFirst(max(0, confirmations.count - Self.maximumConfirmations))
    return confirmation
  }

  /// How a question stands. Of a device that has gone, it is cancelled.
  func confirmation(_ id: String) throws(SandboxProblem) -> Confirmation {
    let index = try index(of: id)
    let device = confirmations[index].device
    if !present.contains(where: { $0.id == device }) { confirmations[index].settle(.cancelled) }
    return confirmations[index]
  }

  /// The sheet was closed, or its shopper will pay in another way.
  func withdraw(_ id: String) throws(SandboxProblem) {
    confirmations[try index(of: id)].settle(.cancelled)
  }

  private func index(of confirmation: String) throws(SandboxProblem) -> Int {
    guard let index = confirmations.firstIndex(where: { $0.id == confirmation }) else { throw .noSuchConfirmation }
    return index
  }

  private func forgetAbsent() {
    let now = clock.now()
    devices.removeAll { now.since($0.lastSeen) > Self.patience }
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
