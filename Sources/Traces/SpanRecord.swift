package import Tracing

/// What is exported of a span.
package struct SpanRecord: Sendable {
  package var name: String
  package let kind: SpanKind
  /// Its trace, and its parent if it has one.
  package let parent: TraceContext
  package let spanID: SpanID
  /// Nanoseconds since 1970.
  package let start: UInt64
  package internal(set) var end: UInt64
  package internal(set) var attributes: SpanAttributes
  package internal(set) var events: [SpanEvent] = []
  package internal(set) var status: SpanStatus?
}

/// Limits of what is recorded. Libraries record too, so none is only a matter of this code.
package enum TraceLimits {
  /// The spans of one call. A call for many customers, or a long stream, could otherwise fill the buffer.
  package static let spansPerCall = 128
  package static let attributes = 32
  package static let eventsPerSpan = 16
  /// Bytes of a name or text. The rest is cut off.
  package static let textLength = 256
  /// Finished spans that wait for their export: some megabytes at most.
  package static let bufferedSpans = 4_096
  /// Spans of one request to the collector.
  package static let spansPerBatch = 512
}
