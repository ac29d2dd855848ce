import EntitlementService
import Foundation
import Logging
import OutboundHTTP
import Programs
import ServiceLifecycle
import TraceExport
import Traces
import Tracing

/// Where traces are sent, and of which calls.
struct TraceSettings: Sendable {
  let collector: OutboundAddress
  /// The part of the calls without a trace that are sampled, from 0 to 1.
  let ratio: Double
  /// The file of header fields for the collector; nil: none.
  let headersPath: String?

  /// - Throws: ``StartFailure``. It shows nothing of the file.
  func headers() throws(StartFailure) -> CollectorHeaders {
    guard let headersPath else { return CollectorHeaders() }
    let reason: String
    do {
      let bytes = try FileOnDisk(path: headersPath).bytes(
        limit: CollectorHeaders.maximumLength
      ) { status in
        status.st_mode & 0o007 == 0 ? nil : "other users may read or write it (chmod 640)"
      }
      return try CollectorHeaders(parsing: bytes)
    } catch let error as FileOnDisk.Unreadable {
      reason = error.description
    } catch let error as CollectorHeaders.Invalid {
      reason = error.description
    } catch {
      reason = "it cannot be read"
    }
    throw StartFailure(
      .badConfiguration, "\(SettingKey.otlpHeadersFile.rawValue): \(headersPath): \(reason)")
  }
}

/// What records and exports the spans of calls.
struct TraceComponents: Sendable {
  let tracer: CallTracer
  private let exporter: TraceExporter
  private let collector: HTTPTraceCollector

  init(_ settings: TraceSettings, _ headers: CollectorHeaders, node: String, logger: Logger) {
    let buffer = SpanBuffer()
    tracer = CallTracer(ratio: settings.ratio, buffer: buffer)
    collector = HTTPTraceCollector(settings.collector, headers)
    exporter = TraceExporter(
      buffer, to: collector,
      resource: TraceResource(
        service: "entitled", version: ProgramVersion.current, instance: node),
      logger: logger)
    InstrumentationSystem.bootstrap(tracer)
  }

  static func values(_ buffer: SpanBuffer?) -> [StatisticValue] {
    let counts = buffer?.counts ?? SpanBuffer.Counts()
    return [
      StatisticValue("traces.exported", counts.exported),
      StatisticValue("traces.dropped", counts.dropped),
      StatisticValue("traces.export_failures", counts.failures),
      StatisticValue("traces.buffered", counts.buffered),
      StatisticValue("traces.buffered_limit", buffer?.limit ?? 0),
    ]
  }

  /// Exports until the task is cancelled, and then what is left.
  func run() async {
    await cancelWhenGracefulShutdown { await exporter.run() }
    await exporter.flush()
    await shutDown()
  }

  func shutDown() async {
    await collector.shutDown()
  }
}

/// The export of traces: stops last, so that it sends the spans of all calls.
struct TraceService: Service {
  /// Nil: nothing is traced.
  let components: TraceComponents?

  func run() async throws {
    if let components {
      await components.run()
    } else {
      try? await gracefulShutdown()
    }
  }
}

extension Logger.MetadataProvider {
  /// The ids of the traced call that a log line is about.
  static let traces = Logger.MetadataProvider {
    guard let ids = CallTracer.currentIDs else { return [:] }
    return [
      "trace_id": "\(ids.trace.hexadecimal)", "span_id": "\(ids.span.hexadecimal)",
    ]
  }
}
