import Glibc
import Synchronization
package import Tracing

/// Records the spans of sampled calls. Whether a call is sampled is decided once, when it begins: as its
/// caller decided, or by chance if the caller sent no trace. All else that a call does then is a child of
/// its span, or is not recorded: this holds for libraries too.
package final class CallTracer: Tracer {
  package typealias Span = CallSpan

  /// The part of the calls without a trace that are sampled, from 0 to 1.
  private let ratio: Double
  package let buffer: SpanBuffer

  package init(ratio: Double, buffer: SpanBuffer) {
    self.ratio = ratio
    self.buffer = buffer
  }

  /// How many calls are not sampled before the next one that is. Drawn anew after each (a geometric
  /// distribution), this samples every call with the same chance, and costs a call no random number.
  package func callsUntilSample() -> Int {
    if ratio <= 0 { return .max }
    if ratio >= 1 { return 0 }
    let count = log(1 - Double.random(in: 0..<1)) / log1p(-ratio)
    return Int(exactly: count.rounded(.down)) ?? .max
  }

  /// Starts the span of a call. Its end is ``CallSpan/endCall(code:isOK:isFault:)``.
  ///
  /// - Parameters:
  ///   - method: the full name of the method.
  ///   - system: OpenTelemetry's name of the protocol.
  ///   - age: the nanoseconds since the request arrived.
  package func startCall(
    _ method: String, system: String, in parent: TraceContext, age: Int64
  ) -> CallSpan {
    var context = InstrumentationContext.topLevel
    context[ParentKey.self] = SpanParent(parent, self)
    let now = DefaultTracerClock.now.nanosecondsSinceEpoch
    let span = startSpan(
      method, context: context, ofKind: .server,
      at: DefaultTracerClock.Timestamp(
        nanosecondsSinceEpoch: now &- UInt64(clamping: age)))
    span.updateAttributes { attributes in
      attributes["rpc.system.name"] = system
      attributes["rpc.method"] = method
    }
    return span
  }

  /// Starts a span within the current one; nil unless the current task or call is traced.
  package static func startChild(
    _ name: String, _ kind: SpanKind = .internal, _ attributes: SpanAttributes = [:]
  ) -> CallSpan? {
    guard let context = InstrumentationContext.current else { return nil }
    return startChild(name, kind, attributes, in: context)
  }

  static func startChild(
    _ name: String, _ kind: SpanKind, _ attributes: SpanAttributes,
    in context: InstrumentationContext
  ) -> CallSpan? {
    guard let tracer = context[ParentKey.self]?.tracer else { return nil }
    let span = tracer.startSpan(name, context: context, ofKind: kind)
    if !attributes.isEmpty { span.attributes = attributes }
    return span
  }

  /// Whether the current task or call is traced.
  package static var isCurrent: Bool { InstrumentationContext.current != nil }

  /// The ids of the current span, for log lines; nil unless the current task or call is traced.
  package static var currentIDs: (trace: TraceID, span: SpanID)? {
    guard let parent = InstrumentationContext.current?[ParentKey.self]?.context,
      let span = parent.spanID
    else { return nil }
    return (parent.traceID, span)
  }

  // MARK: Tracer

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> InstrumentationContext,
    ofKind kind: SpanKind, at instant: @autoclosure () -> Instant, function: String,
    file fileID: String, line: UInt
  ) -> CallSpan {
    var context = context()
    guard let parent = context[ParentKey.self], parent.context.isSampled else { return .untraced }
    guard parent.budget.take() else {
      buffer.dropped(1)
      return .untraced
    }
    let id = SpanID.random()
    let start = instant().nanosecondsSinceEpoch
    let record = SpanRecord(
      name: operationName, kind: kind, parent: parent.context, spanID: id, start: start, end: start,
      attributes: [:])
    context[ParentKey.self] = parent.withSpan(id)
    return CallSpan(record, context: context, tracer: self)
  }

  /// Nothing: spans are exported soon, and at the stop of the server.
  package func forceFlush() {}

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    let parent = extractor.extract(key: Self.parentName, from: carrier)
    let state = extractor.extract(key: Self.stateName, from: carrier)
    if let parent, let found = TraceContext(parents: [parent], states: state.map { [$0] } ?? []) {
      context[ParentKey.self] = SpanParent(found, self)
    }
  }

  /// Nothing: what this server calls belongs to others, who need no ids of its callers.
  package func inject<Carrier, Inject: Injector>(
    _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {}

  /// The names of the headers, and of the keys of metadata.
  package static let parentName = "traceparent"
  package static let stateName = "tracestate"
}

/// What the next span is a child of.
private struct SpanParent: Sendable {
  let context: TraceContext
  /// Shared by all spans of a call.
  let budget: SpanBudget
  let tracer: CallTracer

  init(_ context: TraceContext, _ tracer: CallTracer) {
    self.init(context, SpanBudget(), tracer)
  }

  private init(_ context: TraceContext, _ budget: SpanBudget, _ tracer: CallTracer) {
    self.context = context
    self.budget = budget
    self.tracer = tracer
  }

  func withSpan(_ id: SpanID) -> SpanParent {
    SpanParent(context.withSpan(id), budget, tracer)
  }
}

private enum ParentKey: InstrumentationContextKey {
  typealias Value = SpanParent
}

/// The spans that a call may still have.
private final class SpanBudget: Sendable {
  private let left = Atomic(TraceLimits.spansPerCall)

  func take() -> Bool {
    left.wrappingSubtract(1, ordering: .relaxed).newValue >= 0
  }
}
