import Acquiring
import Foundation
import TenderPayments

/// A time zone as reports write it: an abbreviation, a name of the IANA's, or an offset.
///
/// Some abbreviations have several meanings. Here `CST` is America's, `IST` India's, `BST` Britain's and `AST` that of the
/// Atlantic.
struct ReportZone {
  private enum Kind {
    /// Seconds east of Greenwich.
    case offset(Int64)
    case place(TimeZone)
  }

  private let kind: Kind

  /// Nil for a zone that is not known here.
  init?(_ text: String) {
    if let minutes = Self.minutes[text] {
      kind = .offset(minutes * 60)
    } else if let seconds = Self.offset(text) {
      kind = .offset(seconds)
    } else {
      guard TimeZoneName.isPlace(text), let place = TimeZone(identifier: text) else { return nil }
      kind = .place(place)
    }
  }

  /// - Parameter local: what a clock there shows, as if it were UTC.
  func moment(of local: Timestamp) -> Timestamp {
    switch kind {
    case .offset(let seconds): return local.adding(.seconds(-seconds))
    case .place(let zone):
      func shift(_ time: Timestamp) -> Duration {
        .seconds(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds))))
      }
      return local.adding(.zero - shift(local.adding(.zero - shift(local))))
    }
  }

  /// `+08:00`, `GMT+8`, `UTC-03:30`.
  private static func offset(_ text: String) -> Int64? {
    let rest = ["GMT", "UTC"].contains { text.hasPrefix($0) } ? text.dropFirst(3) : text[...]
    guard let sign = rest.first, sign == "+" || sign == "-" else { return nil }
    let parts = rest.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
    guard (1...2).contains(parts.count), let hours = parts[0], let minutes = parts.count == 2 ? parts[1] : 0,
      (0...14).contains(hours), (0..<60).contains(minutes)
    else { return nil }
    return (sign == "-" ? -1 : 1) * (hours * 60 + minutes) * 60
  }

  /// East of Greenwich.
  private static let minutes: [String: Int64] = [
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180,
    "MSK": 180, "TRT": 180, "WAT": 60, "CAT": 120, "SAST": 120, "EAT": 180, "GST": 240, "PKT": 300, "IST": 330,
    "ICT": 420, "WIB": 420, "SGT": 480, "HKT": 480, "PHT": 480, "MYT": 480, "AWST": 480, "JST": 540, "KST": 540,
    "ACST": 570, "ACDT": 630, "AEST": 600, "AEDT": 660, "NZST": 720, "NZDT": 780, "HST": -600, "AKST": -540,
    "AKDT": -480, "PST": -480, "PDT": -420, "MST": -420, "MDT": -360, "CST": -360, "CDT": -300, "EST": -300,
    "EDT": -240, "AST": -240, "ADT": -180, "NST": -210, "NDT": -150, "BRT": -180, "BRST": -120, "ART": -180,
    "UYT": -180, "CLT": -240, "CLST": -180, "COT": -300, "PET": -300,
  ]
}
