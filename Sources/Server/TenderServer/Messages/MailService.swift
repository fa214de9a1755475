import Logging
import Mail
import ServiceLifecycle
import Storage
import TenderPayments

/// Delivers messages until the server shuts down.
struct MailDeliveryService: Service {
  let dispatcher: MailDispatcher

  func run() async throws {
    await cancelWhenGracefulShutdown { await dispatcher.run() }
  }
}

/// Writes to shoppers until the server shuts down.
struct OrderMailService: Service {
  let mail: OrderMail

  func run() async throws {
    await cancelWhenGracefulShutdown { await mail.run() }
  }
}

/// Says what is due by the clock: ten seconds after the start, then every hour.
struct MailNoticeService: Service {
  let mail: ServerMail
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var pause = Duration.seconds(10)
      while !Task.isCancelled {
        do { try await scheduler.sleep(pause) } catch { return }
        do { try await mail.sayWhatIsDue() } catch {
          logger.error("warnings cannot be queued", metadata: ["reason": .string("\(error)")])
        }
        pause = .seconds(3_600)
      }
    }
  }
}

/// Counts every try to deliver a message, and logs those that failed.
struct MailMonitor: Sendable {
  let metrics: Metrics
  let logger: Logger

  func note(_ report: MailReport) {
    switch report {
    case .tried(let mail, let state, let result):
      metrics.mails.count(["outcome": state == .waiting ? "failed" : state.rawValue])
      guard state != .sent else { return }
      logger.log(
        level: state == .dead ? .error : .warning,
        state == .dead ? "a message was given up" : "a message was not delivered",
        metadata: [
          "mail": .string(mail.id), "kind": .string(mail.kind.rawValue), "result": .string(result),
        ])
    case .trouble(let reason): logger.error("mail cannot be delivered", metadata: ["reason": .string(reason)])
    }
  }

  static func gauges(_ database: Database) async throws -> [Gauge] {
    let backlog = try await database.read { try MailOutbox.backlog(in: $0) }
    return [
      Gauge(name: "tender_mail_waiting", help: "Messages to be tried.", labels: [:], value: backlog.waiting),
      Gauge(name: "tender_mail_dead", help: "Messages given up.", labels: [:], value: backlog.dead),
    ]
  }
}
