package import Logging
import Synchronization
package import Traces

/// Limits of exports.
package struct TraceExportLimits: Hashable, Sendable {
  /// How long a span waits until it is sent with others.
  package var interval = Duration.seconds(5)
  /// How often a batch is sent.
  package var attempts = 5
  /// Before the first repetition; doubled for each further one.
  package var firstDelay = Duration.seconds(1)
  /// The longest time before a repetition, whatever the collector asks for.
  package var longestDelay = Duration.seconds(30)
  /// For the last spans when the server stops. It is a part of `ShutdownWatchdog.allowance`.
  package var flushTime = Duration.seconds(2)

  package init() {}
}

/// Sends finished spans to a collector, in batches. A batch that the collector does not take for the
/// moment is sent again; meanwhile spans wait in their buffer, which is bounded.
package final class TraceExporter: Sendable {
  private let buffer: SpanBuffer
  private let collector: any TraceCollector
  private let resource: TraceResource
  private let limits: TraceExportLimits
  private let sleep: @Sendable (Duration) async throws -> Void
  private let logger: Logger
  /// Whether the last batch failed: the log has one line for each outage.
  private let isFailing = Mutex(false)

  package init(
    _ buffer: SpanBuffer, to collector: any TraceCollector, resource: TraceResource,
    limits: TraceExportLimits = TraceExportLimits(),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    logger: Logger
  ) {
    self.buffer = buffer
    self.collector = collector
    self.resource = resource
    self.limits = limits
    self.sleep = sleep
    self.logger = logger
  }

  /// Exports until the task is cancelled. Then ``flush()`` must be called.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [self] in
        while (try? await sleep(limits.interval)) != nil { buffer.wakeUp() }
      }
      for await _ in buffer.wakeUps { await exportAll() }
      group.cancelAll()
    }
  }

  private func exportAll() async {
    while !Task.isCancelled, case let batch = buffer.take(), !batch.isEmpty {
      await export(batch)
      // Spans that ended meanwhile wait for others: under load each request would have a few.
      if batch.count < TraceLimits.spansPerBatch { return }
    }
  }

  private func export(_ batch: [SpanRecord]) async {
    let document = TraceDocument.encode(batch, of: resource)
    var delay = limits.firstDelay
    var attempt = 1
    while true {
      let outcome = await send(document)
      if case .taken = outcome {
        exported(batch)
        return
      }
      if Task.isCancelled {
        buffer.putBack(batch)
        return
      }
      guard case .refused(let reason, let retryAfter?) = outcome, attempt < limits.attempts else {
        failed(batch, outcome.reason)
        return
      }
      logOutage(reason)
      attempt += 1
      // Several servers must not repeat at the same moment.
      let chosen = max(delay * Double.random(in: 0.5...1), retryAfter)
      do {
        try await sleep(min(chosen, limits.longestDelay))
      } catch {
        buffer.putBack(batch)
        return
      }
      delay *= 2
    }
  }

  /// Sends what is left, each batch once, within ``TraceExportLimits/flushTime``. Spans that are then left
  /// are dropped.
  package func flush() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [self] in
        while !Task.isCancelled, case let batch = buffer.take(), !batch.isEmpty {
          let outcome = await send(TraceDocument.encode(batch, of: resource))
          if case .taken = outcome {
            exported(batch)
          } else {
            failed(batch, outcome.reason)
          }
        }
      }
      group.addTask { [self] in try? await sleep(limits.flushTime) }
      await group.next()
      group.cancelAll()
    }
    while case let batch = buffer.take(), !batch.isEmpty { buffer.dropped(batch.count) }
  }

  // MARK: One request

  private enum Outcome {
    case taken
    /// - Parameter retryAfter: when the request may be repeated; nil: never.
    case refused(reason: String, retryAfter: Duration?)

    var reason: String {
      if case .refused(let reason, _) = self { reason } else { "" }
    }
  }

  /// The statuses after which a request may be repeated (OTLP, section "Failures" of OTLP/HTTP).
  private static let retryable: Set = [429, 502, 503, 504]

  private func send(_ document: [UInt8]) async -> Outcome {
    do {
      let answer = try await collector.post(document)
      if (200..<300).contains(answer.status) { return .taken }
      return .refused(
        reason: "HTTP status \(answer.status)",
        retryAfter: Self.retryable.contains(answer.status) ? answer.retryAfter ?? .zero : nil)
    } catch {
      return .refused(reason: "\(error)", retryAfter: .zero)
    }
  }

  private func exported(_ batch: [SpanRecord]) {
    buffer.exported(batch.count)
    if isFailing.withLock({ exchange(&$0, with: false) }) {
      logger.notice("traces are exported again")
    }
  }

  private func failed(_ batch: [SpanRecord], _ reason: String) {
    buffer.dropped(batch.count)
    buffer.failed()
    logOutage(reason)
  }

  private func logOutage(_ reason: String) {
    if !isFailing.withLock({ exchange(&$0, with: true) }) {
      logger.warning("traces cannot be exported", metadata: ["reason": "\(reason)"])
    }
  }
}
