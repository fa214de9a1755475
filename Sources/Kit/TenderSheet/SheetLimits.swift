/// Time limits of the web kit and the app kit, which the transcripts in `Tests/Support/Flows` test.
public enum SheetLimits {
  /// Apple closes a sheet that waits longer than this for the answer to one of its events.
  public static let callback: Duration = .seconds(30)
  /// The reserve, so that the answer reaches the sheet in time.
  public static let reserve: Duration = .seconds(3)
  /// The lifetime of a merchant session, which pays once.
  public static let merchantSession: Duration = .seconds(300)
  /// One call to the server.
  public static let call: Duration = .seconds(10)
  /// A payment, which waits for an acquirer.
  public static let payment: Duration = .seconds(18)
  /// Before a call is repeated; doubled every time, up to the longest.
  public static let firstPause: Duration = .milliseconds(500)
  /// The longest pause between two calls.
  public static let longestPause: Duration = .seconds(4)
  /// How long a kit keeps asking for an unknown outcome after it has reported it as unknown.
  public static let recovery: Duration = .seconds(300)

  /// The time in which a kit answers an event of the sheet.
  static var answer: Duration { callback - reserve }
}
