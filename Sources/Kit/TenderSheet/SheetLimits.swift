/// How long a kit waits, on the web and in an app. `Tests/Support/Flows` holds both kits to these numbers.
public enum SheetLimits {
  /// Apple closes a sheet that waits longer than this for the answer to one of its events.
  public static let callback: Duration = .seconds(30)
  /// What is kept of it, so that the answer reaches the sheet in time.
  public static let reserve: Duration = .seconds(3)
  /// A merchant session pays once, and within this time.
  public static let merchantSession: Duration = .seconds(300)
  /// One call to the server; a payment waits for an acquirer.
  public static let call: Duration = .seconds(10)
  /// A payment, which waits for an acquirer.
  public static let payment: Duration = .seconds(18)
  /// Before a call is repeated; doubled every time, up to the longest.
  public static let firstPause: Duration = .milliseconds(500)
  /// The longest rest between two calls.
  public static let longestPause: Duration = .seconds(4)
  /// How long a kit goes on asking for an outcome that nobody knows yet, after it has said so.
  public static let recovery: Duration = .seconds(300)

  /// In which an event of the sheet is answered, one way or the other.
  static var answer: Duration { callback - reserve }
}
