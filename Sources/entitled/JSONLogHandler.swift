import Foundation
import Logging

/// Writes each log event as one line of JSON to stderr: `time`, `level`, `message`, `logger` and
/// the metadata.
struct JSONLogHandler: LogHandler {
  private let label: String
  var logLevel = Logger.Level.info
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?

  init(label: String, metadataProvider: Logger.MetadataProvider?) {
    self.label = label
    self.metadataProvider = metadataProvider
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var fields: [String: Any] = [
      "time": Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
      "level": event.level.rawValue, "message": event.message.description, "logger": label,
    ]
    let provided = metadataProvider?.get() ?? [:]
    let all = metadata.merging(provided, uniquingKeysWith: { $1 })
      .merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
    for (key, value) in all {
      fields[key] = value.description
    }
    guard
      var line = try? JSONSerialization.data(
        withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
    else { return }
    line.append(UInt8(ascii: "\n"))
    // Errors are ignored: a log that cannot be written must not stop the server.
    try? FileHandle.standardError.write(contentsOf: line)
  }
}
