package import AccessControl
package import EntitlementService
import Framing
package import RPCServer
import Wire

extension HealthStatus {
  package var values: [StatisticValue] { [StatisticValue("health.serving", isServing ? 1 : 0)] }
}

extension RPCServerStatistics {
  /// The counters with the names under which GetStatistics returns them.
  package var values: [StatisticValue] {
    [
      StatisticValue("connections.open", connectionsOpen),
      StatisticValue("connections.open_limit", connectionsLimit),
      StatisticValue("connections.accepted", connectionsAccepted),
      StatisticValue("connections.refused", connectionsRefused),
      StatisticValue("connections.timed_out", connectionsTimedOut),
      StatisticValue("connections.broken_frames", brokenFrames),
      StatisticValue("connections.broken", connectionsBroken),
      StatisticValue("connections.accept_pauses", acceptPauses),
      StatisticValue("connections.accept_failures", acceptFailures),
      StatisticValue("connections.closed_for_memory", connectionsClosedForMemory),
      StatisticValue("tls.handshakes_open", handshakesOpen),
      StatisticValue("tls.handshakes_open_limit", RPCLimits.unfinishedHandshakes),
      StatisticValue("tls.handshakes", handshakesFinished),
      StatisticValue("tls.handshakes_failed", handshakesFailed),
      StatisticValue("memory.bytes", memoryInUse),
      StatisticValue("memory.bytes_limit", memoryLimit),
      StatisticValue("memory.unknown_bytes", unknownMemoryInUse),
      StatisticValue("memory.unknown_bytes_limit", unknownMemoryLimit),
      StatisticValue("memory.refused", memoryRefusals),
      StatisticValue("memory.dropped_requests", droppedRequests),
      StatisticValue("conversions.done", conversions),
      StatisticValue("conversions.waiting", conversionsWaiting),
      StatisticValue("conversions.waiting_limit", RPCLimits.convertedMessages),
      StatisticValue("conversions.refused", conversionsRefused),
      StatisticValue("calls.total", calls.total),
      StatisticValue("calls.stream_messages", streamMessages),
    ] + RPCCode.allCases.map { StatisticValue("calls.\($0.name)", calls[$0]) }
  }
}

extension AccessRefusals {
  /// Refused calls by reason, zero included, and those of each caller, such as
  /// `access.refused.rate_limited.billing`.
  package static func values(of totals: [Key: Int]) -> [StatisticValue] {
    let sums = AccessRefusal.allCases.map { reason in
      StatisticValue(
        name(of: reason), totals.reduce(0) { $1.key.reason == reason ? $0 + $1.value : $0 })
    }
    let callers = totals.compactMap { key, count in
      key.caller.map { StatisticValue(name(of: key.reason), count, of: $0) }
    }
    return sums + callers
  }

  private static func name(of reason: AccessRefusal) -> String {
    "access.refused.\(reason.rawValue.lowercased())"
  }
}
