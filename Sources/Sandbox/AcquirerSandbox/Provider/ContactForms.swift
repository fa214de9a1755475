import TenderPayments

// What providers check of a shopper's contact.
extension String {
  /// Whether mail can be sent there: `ada@example.c` is no address.
  package var isEmailAddress: Bool {
    wholeMatch(of: /[^@\s]{1,64}@([A-Za-z0-9-]{1,63}\.)+[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]/) != nil
  }

  /// Characters of Unicode.
  package func isLonger(than limit: Int) -> Bool { unicodeScalars.count > limit }
}
