import Logging
import Synchronization

/// Records log lines.
final class LogRecorder: Sendable {
  struct Line: Sendable {
    let level: Logger.Level
    let message: String
    let metadata: [String: String]
  }

  private let recorded = Mutex<[Line]>([])

  var lines: [Line] { recorded.withLock { $0 } }

  func lines(at level: Logger.Level) -> [Line] { lines.filter { $0.level == level } }

  var logger: Logger {
    Logger(label: "test") { _ in Handler(recorder: self) }
  }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let metadata = (event.metadata ?? [:]).mapValues { $0.description }
      recorder.recorded.withLock {
        $0.append(
          Line(level: event.level, message: event.message.description, metadata: metadata))
      }
    }
  }
}
