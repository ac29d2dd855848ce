import EntitlementDomain
import Foundation

/// The report as JSON, a contract that deploy/docs/load.md documents. Latencies are in
/// microseconds.
struct LoadDocument: Encodable {
  struct Latencies: Encodable {
    let mean, p50, p90, p99, p999, max: Double

    init(_ latencies: LatencyHistogram) {
      func microseconds(_ nanoseconds: Double) -> Double {
        (nanoseconds / 10).rounded() / 100
      }
      mean = microseconds(latencies.mean)
      p50 = microseconds(latencies.percentile(50))
      p90 = microseconds(latencies.percentile(90))
      p99 = microseconds(latencies.percentile(99))
      p999 = microseconds(latencies.percentile(99.9))
      max = microseconds(latencies.maximum)
    }
  }

  struct Calls: Encodable {
    let calls: Int
    let callsPerSecond: Double
    let errors: [String: Int]
    let latencyMicroseconds: Latencies
    let sentBytes: Int
    let receivedBytes: Int

    init(_ part: Tally.Kind, length: Double) {
      calls = part.calls
      callsPerSecond = length > 0 ? (Double(part.calls) / length * 10).rounded() / 10 : 0
      errors = part.errors
      latencyMicroseconds = Latencies(part.latencies)
      sentBytes = part.sentBytes
      receivedBytes = part.receivedBytes
    }
  }

  struct Answers: Encodable {
    let checked: Int
    let wrong: Int
    let faults: [String]
  }

  struct Server: Encodable {
    let processorMicrosecondsPerCall: Double?
    let memoryBytesBefore: Int
    let memoryBytesAfter: Int
    let peakMemoryBytes: Int
  }

  struct Idle: Encodable {
    let connections: Int
    let serverBytesEach: Int?
  }

  let load: String
  let server: String
  let seed: UInt64
  let seconds: Double
  let interrupted: Bool
  let gaveUp: Bool
  let all: Calls
  let kinds: [String: Calls]
  let answers: Answers
  let heldUp: Int
  let lostConnections: Int
  let serverProcess: Server?
  let idle: Idle?
  let ownProcessorSeconds: Double
  let failedConditions: [String]

  init(_ report: LoadReport) {
    let (result, tally) = (report.result, report.result.total)
    load = report.load
    server = report.server
    seed = report.plan.calls.seed
    seconds = result.length
    interrupted = result.isInterrupted
    gaveUp = result.isServerGone
    all = Calls(tally.all, length: result.length)
    kinds = Dictionary(
      uniqueKeysWithValues: tally.kinds.map {
        ($0.key.name, Calls($0.value, length: result.length))
      })
    answers = Answers(checked: tally.checked, wrong: tally.wrong, faults: tally.faults)
    heldUp = tally.delayed
    lostConnections = tally.lostConnections
    serverProcess = result.server.map { server in
      Server(
        processorMicrosecondsPerCall: result.serverTimePerCall,
        memoryBytesBefore: server.before.memory, memoryBytesAfter: server.after.memory,
        peakMemoryBytes: server.after.peakMemory)
    }
    idle = report.idle.map { Idle(connections: $0.count, serverBytesEach: $0.bytesEach) }
    ownProcessorSeconds = result.ownProcessorTime / 1e6
    failedConditions = report.violations
  }

  var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }
}
