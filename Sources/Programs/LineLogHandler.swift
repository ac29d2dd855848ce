import Foundation
package import Logging

/// Writes each log event as one line to stderr.
package struct LineLogHandler: LogHandler {
  /// The form of the lines.
  package enum Format: String, CaseIterable, Sendable {
    /// `TIME LEVEL LOGGER: MESSAGE NAME=VALUE…`. Names and addresses of callers get into messages and
    /// values: what could end the line, or act on a terminal, is escaped.
    case text
    /// An object with `time`, `level`, `message`, `logger` and the metadata.
    case json
  }

  private let label: String
  private let format: Format
  package var logLevel = Logger.Level.info
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  package init(label: String, format: Format, metadataProvider: Logger.MetadataProvider? = nil) {
    self.label = label
    self.format = format
    self.metadataProvider = metadataProvider
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let time = Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    // A log that cannot be written must not stop the server.
    if let line = line(event, time: time) { StandardError.write(line) }
  }

  /// The line of an event, without its end; nil if it has no JSON form.
  ///
  /// - Parameter time: when the event happened, as text.
  package func line(_ event: LogEvent, time: String) -> String? {
    let provided = metadataProvider?.get() ?? [:]
    var all = metadata.merging(provided, uniquingKeysWith: { $1 })
      .merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
    if let error = event.error { all["error"] = "\(error)" }
    return switch format {
    case .text: text(event, time: time, all)
    case .json: json(event, time: time, all)
    }
  }

  private func text(_ event: LogEvent, time: String, _ metadata: Logger.Metadata) -> String {
    let message = TerminalText.escaped(event.message.description)
    let head = "\(time) \(event.level.rawValue) \(label): \(message)"
    return metadata.sorted { $0.key < $1.key }.reduce(head) { line, field in
      "\(line) \(TerminalText.escaped(field.key))=\(Self.quoted(field.value.description))"
    }
  }

  /// A value as one word, or in quotes: it must not look like further fields.
  private static func quoted(_ value: String) -> String {
    let isWord = !value.unicodeScalars.contains { " \"\\=".unicodeScalars.contains($0) }
    if isWord, !value.isEmpty, TerminalText.escaped(value) == value { return value }
    var marked = String.UnicodeScalarView()
    for scalar in value.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { marked.append("\\") }
      marked.append(scalar)
    }
    return "\"\(TerminalText.escaped(String(marked)))\""
  }

  private func json(_ event: LogEvent, time: String, _ metadata: Logger.Metadata) -> String? {
    // A field of the metadata does not replace one of these.
    let fields = metadata.mapValues { Self.value($0) }.merging(
      [
        "time": time, "level": event.level.rawValue, "message": event.message.description,
        "logger": label,
      ], uniquingKeysWith: { $1 })
    let data = try? JSONSerialization.data(
      withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
    return data.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Numbers and Booleans stay what they are; whatever else is text is a string, digits or not.
  private static func value(_ value: Logger.MetadataValue) -> Any {
    switch value {
    case .string(let text): text
    case .array(let values): values.map { Self.value($0) }
    case .dictionary(let values): values.mapValues { Self.value($0) }
    case .stringConvertible(let value):
      switch value {
      case let flag as Bool: flag
      case let number as any BinaryInteger:
        Int64(exactly: number) as Any? ?? UInt64(exactly: number) as Any? ?? number.description
      case let number as Double where number.isFinite: number
      default: value.description
      }
    }
  }
}
