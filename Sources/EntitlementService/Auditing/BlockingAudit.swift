import Dispatch
import EntitlementStore
import Synchronization

/// Writes entries of the audit trail (R76) from a dispatch queue, which waits for each.
struct BlockingAudit: Sendable {
  typealias Record = @Sendable (AuditCall) async throws(StoreError) -> Void

  private let record: Record

  init(_ record: @escaping Record) {
    self.record = record
  }

  private final class Outcome: Sendable {
    let failure = Mutex<StoreError?>(nil)
  }

  /// Blocks until the entry is written. The store bounds the time.
  ///
  /// - Returns: nil on success.
  func write(_ call: AuditCall) -> StoreError? {
    let outcome = Outcome()
    let isWritten = DispatchSemaphore(value: 0)
    Task { [record] in
      do throws(StoreError) {
        try await record(call)
      } catch {
        outcome.failure.withLock { $0 = error }
      }
      isWritten.signal()
    }
    isWritten.wait()
    return outcome.failure.withLock { $0 }
  }
}
