import Synchronization
package import Tracing

/// A span of a call that is traced. Safe on any thread.
package final class CallSpan: Tracing.Span {
  package let context: InstrumentationContext
  /// Nil: nothing is recorded, or the span has ended.
  private let record: Mutex<SpanRecord?>
  private let tracer: CallTracer?

  init(_ record: SpanRecord, context: InstrumentationContext, tracer: CallTracer) {
    self.record = Mutex(record)
    self.context = context
    self.tracer = tracer
  }

  private init() {
    record = Mutex(nil)
    context = .topLevel
    tracer = nil
  }

  /// For libraries that ask for a span outside of a traced call.
  static let untraced = CallSpan()

  package var isRecording: Bool { record.withLock { $0 != nil } }

  package var operationName: String {
    get { record.withLock { $0?.name } ?? "" }
    set { record.withLock { $0?.name = newValue } }
  }

  package var attributes: SpanAttributes {
    get { record.withLock { $0?.attributes } ?? [:] }
    set { record.withLock { $0?.attributes = newValue } }
  }

  package func setStatus(_ status: SpanStatus) {
    record.withLock { $0?.status = status }
  }

  package func addEvent(_ event: SpanEvent) {
    record.withLock { record in
      if let count = record?.events.count, count < TraceLimits.eventsPerSpan {
        record?.events.append(event)
      }
    }
  }

  /// Nothing: no span of this server has links.
  package func addLink(_ link: SpanLink) {}

  /// Records the type alone: the text of an error may hold what no trace may.
  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    record.withLock { record in
      record?.attributes[Self.errorType] = "\(type(of: error))"
      record?.status = SpanStatus(code: .error)
    }
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let ended = record.withLock { record -> SpanRecord? in
      defer { record = nil }
      return record
    }
    guard var ended else { return }
    // The clock may have been set back.
    ended.end = max(ended.start, instant().nanosecondsSinceEpoch)
    tracer?.buffer.add(ended)
  }

  private static let errorType = "error.type"
}

// MARK: Spans of this server

extension CallSpan {
  /// A span within this one, also after its end.
  package func startChild(
    _ name: String, _ kind: SpanKind = .internal, _ attributes: SpanAttributes = [:]
  ) -> CallSpan? {
    CallTracer.startChild(name, kind, attributes, in: context)
  }

  /// Ends the span as that of a failed operation.
  ///
  /// - Parameter type: one of few values, such as the name of a code.
  package func fail(_ type: String) {
    attributes[Self.errorType] = type
    setStatus(SpanStatus(code: .error))
    end()
  }

  /// Ends the span of a call.
  ///
  /// - Parameters:
  ///   - code: the name of its status.
  ///   - isOK: whether it is that of success.
  ///   - isFault: whether the server is at fault.
  package func endCall(code: String, isOK: Bool, isFault: Bool) {
    updateAttributes { attributes in
      attributes["rpc.response.status_code"] = code
      if !isOK { attributes[Self.errorType] = code }
    }
    if isFault { setStatus(SpanStatus(code: .error)) }
    end()
  }

  /// Runs `body` with this span as the current one: of the log lines and spans that `body` and its tasks
  /// write.
  package func withCurrent(_ body: () -> Void) {
    InstrumentationContext.$current.withValue(context, operation: body)
  }
}
