import EntitlementDomain
import Synchronization

/// The revisions of accounts that clients have received. No later answer may have an older one,
/// beyond what the mode of a read allows.
final class RevisionBoard: Sendable {
  private struct Sighting: Sendable {
    let revision: Int64
    let at: ContinuousClock.Instant
  }

  private struct State {
    /// In increasing order.
    var sightings: [AccountID: [Sighting]] = [:]
    var accounts: [AccountID] = []
  }

  private let state = Mutex(State())
  /// Older sightings are combined into one.
  private let memory: Duration

  init(memory: Duration) {
    self.memory = memory
  }

  func saw(_ revision: Int64, of account: AccountID) {
    let now = ContinuousClock.now
    state.withLock { state in
      var own = state.sightings[account] ?? []
      if own.isEmpty { state.accounts.append(account) }
      guard revision > own.last?.revision ?? -1 else { return }
      own.append(Sighting(revision: revision, at: now))
      // The last one of the old sightings is the highest, so the others are not needed.
      if let last = own.lastIndex(where: { $0.at <= now - memory }) { own.removeFirst(last) }
      state.sightings[account] = own
    }
  }

  /// The highest revision of an account received up to a moment; 0 without one.
  func revision(of account: AccountID, at moment: ContinuousClock.Instant = .now) -> Int64 {
    state.withLock { $0.sightings[account]?.last { $0.at <= moment }?.revision ?? 0 }
  }

  var accounts: [AccountID] { state.withLock { $0.accounts } }

  /// Nil when there is none.
  func anyAccount(using random: inout some RandomNumberGenerator) -> AccountID? {
    state.withLock { $0.accounts.randomElement(using: &random) }
  }
}
