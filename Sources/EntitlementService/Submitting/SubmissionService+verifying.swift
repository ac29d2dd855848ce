import Synchronization
import Traces
import Tracing
import Verification
import Workers

extension SubmissionService {
  /// Verifies, with a span if the call is traced. The span has an event when the wait in the queue ends.
  ///
  /// - Parameters:
  ///   - count: how many payloads there are.
  ///   - isCancelled: as in a submission; `verify` gets what it must pass on.
  ///   - verify: returns what it found, with the verdict of each payload.
  func verifying<Output>(
    _ count: Int, _ isCancelled: @escaping @Sendable () -> Bool,
    _ verify: (_ isCancelled: @escaping @Sendable () -> Bool) async throws(PoolError) ->
      (Output, [Verdict])
  ) async throws(ServiceError) -> Output {
    let span = CallTracer.startChild("verification")
    do throws(PoolError) {
      guard let span else { return try await verify(isCancelled).0 }
      let start = FirstCall()
      // It is called before each payload, by the thread that verifies it.
      let (output, verdicts) = try await verify {
        if start.isFirst() { span.addEvent(SpanEvent(name: "verification began")) }
        return isCancelled()
      }
      span.updateAttributes { attributes in
        attributes["entitle.verification.payloads"] = count
        attributes["entitle.verification.verdict"] =
          (verdicts.first { $0 != .ok } ?? .ok).name
      }
      span.end()
      return output
    } catch {
      span?.fail("\(error)")
      throw ServiceError(error, of: .verification)
    }
  }

  private final class FirstCall: Sendable {
    private let hasBeen = Atomic(false)

    func isFirst() -> Bool { !hasBeen.exchange(true, ordering: .relaxed) }
  }
}

extension Result where Failure == Refusal {
  var verdict: Verdict {
    switch self {
    case .success: .ok
    case .failure(let refusal): refusal.verdict
    }
  }
}
