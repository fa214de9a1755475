import StrictJSON
import TenderPayments

/// The payment sheets that a phone operates or may come to operate, with what each side told the other.
actor RemoteSheets {
  private let clock: WallClock
  private let random: RandomBytes
  private let faults: InjectedFaults
  private var sheets: [RemoteSheet] = []

  /// How many sheets are kept; the oldest goes first.
  static let maximumSheets = 100
  static let maximumChoices = 500

  init(clock: WallClock, random: RandomBytes, faults: InjectedFaults) {
    (self.clock, self.random, self.faults) = (clock, random, faults)
  }

  // MARK: The sheet's side

  func open(_ state: JSONValue) -> RemoteSheet {
    var now = clock.now()
    if faults.take(.lateCode) { now = now.adding(.seconds(-301)) }
    let sheet = RemoteSheet(id: random.hex(16), code: random.hex(16), issuedAt: now, state: state)
    sheets.append(sheet)
    sheets.removeFirst(max(0, sheets.count - Self.maximumSheets))
    return sheet
  }

  /// Takes what the phone is to show, and returns what was chosen there since the first `count` choices.
  func exchange(_ id: String, _ state: JSONValue, after count: Int) throws(SandboxProblem) -> (
    isPaired: Bool, choices: [JSONValue]
  ) {
    let index = try index { $0.id == id }
    sheets[index].show(state)
    return (sheets[index].wallet != nil, Array(sheets[index].choices.dropFirst(max(0, count))))
  }

  /// The sheet is over; the phone shows this as the end.
  func close(_ id: String, _ state: JSONValue) throws(SandboxProblem) {
    sheets[try index { $0.id == id }].close(state)
  }

  // MARK: The phone's side

  /// Pairs a phone by the code that it scanned. Returns its name in all further calls.
  func pair(_ code: String) throws(SandboxProblem) -> String {
    guard let index = sheets.firstIndex(where: { $0.code == code }) else { throw .codeUnknown }
    let wallet = random.hex(16)
    try sheets[index].pair(wallet, at: clock.now())
    return wallet
  }

  func sheet(of wallet: String) throws(SandboxProblem) -> RemoteSheet { sheets[try index { $0.wallet == wallet }] }

  func choose(_ choice: JSONValue, with wallet: String) throws(SandboxProblem) {
    let index = try index { $0.wallet == wallet }
    guard sheets[index].isOpen, sheets[index].choices.count < Self.maximumChoices else { throw .sheetClosed }
    sheets[index].choose(choice)
  }

  private func index(where isIt: (RemoteSheet) -> Bool) throws(SandboxProblem) -> Int {
    guard let index = sheets.firstIndex(where: isIt) else { throw .sheetUnknown }
    return index
  }
}

extension SandboxProblem {
  fileprivate static let sheetUnknown = SandboxProblem(
    status: 404, code: "sheet_unknown", message: "The sandbox knows no such payment sheet, or has forgotten it.")
  fileprivate static let sheetClosed = SandboxProblem(
    status: 409, code: "sheet_closed", message: "The payment sheet is closed.")
}
