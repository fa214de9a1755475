package import Storage
import StrictJSON

// The ledgers of the other emulated providers.
extension Evidence {
  /// The emulated Stripe's. What is held and not captured is capturable.
  package mutating func readStripe(_ store: Transaction) throws {
    let orders = orderOfReference
    holds += try store.rows("SELECT * FROM intents ORDER BY sequence").map { row in
      let reference = Self.member("tender_reference", of: try row.text("metadata"))
      let captured = try row.integer("received")
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("id"),
        amount: try row.integer("amount"), currency: try row.text("currency").uppercased(),
        wasApproved: try row.textOrNil("authorization_code") != nil,
        authorized: try row.integer("capturable") + captured, captured: captured,
        refunded: try row.integer("refunded"))
    }
  }

  private static func member(_ name: String, of object: String) -> String {
    guard case .string(let text)? = try? JSONReader.read(Array(object.utf8))[name] else { return "" }
    return text
  }

  /// The emulated Checkout.com's. What is accepted and not processed stands as it was.
  package mutating func readCheckoutCom(_ store: Transaction) throws {
    let orders = orderOfReference
    holds += try store.rows("SELECT * FROM payments ORDER BY created_at, id").map { row in
      let (reference, captured) = (try row.textOrNil("reference") ?? "", try row.integer("captured"))
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("id"),
        amount: try row.integer("amount"), currency: try row.text("currency"),
        wasApproved: try row.integer("authorized") > 0, authorized: try row.integer("available") + captured,
        captured: captured, refunded: try row.integer("refunded"))
    }
  }

  /// The emulated Worldline Direct's, which finds nothing by our reference.
  package mutating func readWorldlineDirect(_ store: Transaction) throws {
    let orders = orderOfReference
    unaskable.insert("worldline-direct")
    holds += try store.rows(Self.worldlineDirectPayments).map { row in
      let (reference, amount) = (try row.textOrNil("reference") ?? "", try row.integer("amount"))
      let captured = try row.integer("status") == 9 ? amount : row.integer("captured")
      let held = try row.integer("is_closed") == 1 ? row.integer("promised") : amount - row.integer("cancelled")
      let wasApproved = [5, 9].contains(try row.integer("status"))
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("id"), amount: amount,
        currency: try row.text("currency"), wasApproved: wasApproved, authorized: wasApproved ? held : 0,
        captured: captured, refunded: try row.integer("refunded"))
    }
  }

  /// 6, 8 and 9 are done; 61, 81, 82, 91 and 92 are accepted; all others are refused.
  private static let worldlineDirectPayments = """
    SELECT payments.*,
      COALESCE(sum(CASE WHEN kind = 'capture' AND o.status = 9 THEN o.amount END), 0) AS captured,
      COALESCE(sum(CASE WHEN kind = 'capture' AND o.status IN (9, 91, 92) THEN o.amount END), 0) AS promised,
      COALESCE(sum(CASE WHEN kind = 'cancel' AND o.status IN (6, 61) THEN o.amount END), 0) AS cancelled,
      COALESCE(sum(CASE WHEN kind = 'refund' AND o.status = 8 THEN o.amount END), 0) AS refunded,
      COALESCE(max(CASE WHEN kind = 'capture' AND o.status IN (9, 91, 92) THEN is_final END), 0) AS is_closed
    FROM payments LEFT JOIN operations o ON o.payment = payments.id GROUP BY payments.id ORDER BY payments.created_at
    """

  /// The emulated Worldline Acquiring's. Our reference is the name of the authorization's operation.
  package mutating func readWorldlineAcquiring(_ store: Transaction) throws {
    let orders = orderOfReference
    let payments = """
      SELECT payments.*, operation_id,
        (SELECT COALESCE(sum(raised.amount), 0) FROM operations AS raised WHERE raised.payment = payment_id
          AND raised.kind = 'INCREMENT' AND raised.response_code = '0') AS incremented
      FROM payments JOIN operations ON operations.payment = payment_id
      WHERE kind = 'AUTHORIZATION' ORDER BY sequence
      """
    holds += try store.rows(payments).map { row in
      let reference = try row.text("operation_id")
      return AcquirerHold(
        reference: reference, order: orders[reference] ?? reference, token: try row.text("payment_id"),
        amount: try row.integer("amount") + row.integer("incremented"), currency: try row.text("currency"),
        wasApproved: !["NOT_AUTHORIZED", "PENDING"].contains(try row.text("status")),
        authorized: try row.integer("authorized"), captured: try row.integer("captured"),
        refunded: try row.integer("refunded"))
    }
  }
}
