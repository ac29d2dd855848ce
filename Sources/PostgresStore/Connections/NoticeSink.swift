import CPostgres
import Logging

/// Where the server's notices go: to the log, without their texts, which may have values in them.
final class NoticeSink: Sendable {
  private let logger: Logger

  init(logger: Logger) { self.logger = logger }

  func received(_ result: OpaquePointer?) {
    guard let result else { return }
    logger.debug(
      "the database has a notice",
      metadata: [
        "state": "\(ResultFields.text(result, .state) ?? "?")",
        "severity": "\(ResultFields.text(result, .severity) ?? "?")",
        "routine": "\(ResultFields.text(result, .routine) ?? "?")",
      ])
  }
}
