import Gateway
import HTTPServing
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Admits payments by HTTP. The decision is made on the event loop that reads the request, so that a refusal does not
/// wait behind the tasks of the payments that are under way.
///
/// A slot is taken when the whole request has arrived: a slow body holds none. Until a task begins with the payment,
/// the connection owns the slot and frees it with the response or when it closes. From then on the task owns it, also
/// when the connection closes: the payment is still under way.
final class PaymentAdmission: Sendable {
  /// A connection has one request at a time.
  typealias Connection = ObjectIdentifier

  private let control: AdmissionControl
  private let reserved = Mutex<[Connection: AdmissionSlot]>([:])

  init(_ control: AdmissionControl) { self.control = control }

  var isFull: Bool { control.isFull }

  /// Takes a slot for a payment whose request has arrived, if one is free.
  func reserve(for connection: Connection) {
    guard let slot = try? control.admit() else { return }
    // A slot that was there before frees itself.
    reserved.withLock { $0[connection] = slot }
  }

  /// Frees the slot of a payment with which no task has begun.
  func cancelReservation(of connection: Connection) { take(connection)?.release() }

  /// Hands the reserved slot over to the caller, who must release it; takes another if there is none.
  func begin(on connection: Connection) throws(GatewayError) -> AdmissionSlot {
    if let slot = take(connection) { return slot }
    return try control.admit()
  }

  private func take(_ connection: Connection) -> AdmissionSlot? {
    reserved.withLock { $0.removeValue(forKey: connection) }
  }
}
