import EntitlementDomain
import EntitlementStore
import Synchronization

@testable import PostgresStore

/// Lets nothing through until it is opened, and then answers each job, unless a test wants otherwise.
final class GatedWork: Sendable {
  private struct State {
    var batches: [[CommitJob]] = []
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let isHeld: @Sendable ([CommitJob]) -> Bool
  private let end: @Sendable ([CommitJob]) -> CommitOutcome

  init(
    holding isHeld: @escaping @Sendable ([CommitJob]) -> Bool = { _ in true },
    ending end: @escaping @Sendable ([CommitJob]) -> CommitOutcome = { GatedWork.answer($0) }
  ) {
    self.isHeld = isHeld
    self.end = end
  }

  var batches: [[CommitJob]] { state.withLock { $0.batches } }

  /// How many transactions wait to be let through.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func run(_ jobs: [CommitJob]) async -> CommitOutcome {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        state.batches.append(jobs)
        if state.isOpen || !isHeld(jobs) { return true }
        state.waiting.append(continuation)
        return false
      }
      if passes { continuation.resume() }
    }
    return end(jobs)
  }

  static func answer(_ jobs: [CommitJob]) -> CommitOutcome {
    for job in jobs {
      var ledger = Ledger(reader: LoadedRows())
      (try? job.decide(&ledger))?(ChangeNumbering(base: 0))
    }
    return .settled
  }
}

/// A job that wants locks and does nothing: its grants' ids stand for them.
func sampleJob(
  _ number: Int, _ locks: Set<String>, bytes: Int = 0,
  _ tell: @escaping @Sendable (Result<Int, StoreError>) -> Void = { _ in }
) -> CommitJob {
  var keys = Set(
    locks.map { LedgerKey.grant(ScopedGrant(StoreSample.scope, GrantID($0))) })
  keys.insert(.notification(NotificationUUID("number \(number)")))
  return CommitJob(
    keys: keys, scopes: ScopeNumbers(), headers: HeaderNumbers(), byteCount: bytes,
    decide: { _ in { _ in tell(.success(number)) } }, fail: { tell(.failure($0)) },
    renumber: {})
}

/// By which ``sampleJob`` was told which one it is.
func number(of job: CommitJob) -> Int {
  for case .notification(let uuid) in job.keys {
    return Int(uuid.rawValue.split(separator: " ").last ?? "") ?? .min
  }
  return .min
}
