import EntitlementStore

/// Jobs that wait to go to a lane together.
struct CommitParcel {
  /// In the order in which lanes look for them.
  enum Kind: Int, CaseIterable {
    /// Part of a batch that was split: nothing else shares its transaction.
    case part
    /// One job that has met nothing yet: it may share a transaction.
    case free
    /// One job that shared a transaction with one that met a lock of somebody else's, or met it itself.
    case suspect
    /// One job that met such a lock alone, or wants what another met one at.
    case stuck

    /// Its job is tried alone, for as long as it has time.
    var isHeld: Bool { self == .suspect || self == .stuck }
  }

  /// Which parcel it is. The lowest of a kind has the first turn.
  let turn: Int
  let kind: Kind
  let jobs: [CommitJob]
  let locks: Set<String>
  let byteCount: Int

  init(_ jobs: [CommitJob], kind: Kind, turn: Int) {
    self.turn = turn
    self.kind = kind
    self.jobs = jobs
    locks = jobs.reduce(into: []) { $0.formUnion($1.locks) }
    byteCount = jobs.reduce(0) { $0 + $1.byteCount }
  }

  /// Those of its jobs that wait since a moment or longer.
  func jobs(since moment: ContinuousClock.Instant) -> [CommitJob] {
    jobs.filter { $0.submittedAt <= moment }
  }
}
