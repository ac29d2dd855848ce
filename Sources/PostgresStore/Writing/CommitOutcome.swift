import EntitlementStore

/// What became of jobs that were to be committed together, as far as it concerns others.
enum CommitOutcome: Sendable {
  /// Each was answered, or failed for a reason of its own.
  case settled
  /// Nothing was written, and nobody was told: these parts shall be committed apart from each other,
  /// since one of them cannot be. One that has no time left for its turn fails with this.
  case split([[CommitJob]], by: StoreError)
  /// Nothing was written, and nobody was told: one of them met a lock of somebody else's. Each shall
  /// be tried again alone, when others had their turn; one that has no time left fails with this.
  case locked(StoreError)
  /// All failed since no answer came in time. Whoever has waited as long need not begin to.
  case late(StoreError)
  /// All failed since the database cannot be reached: the others would meet the same.
  case unreachable(StoreError)

  /// What those who wait as well are told, if any have to be.
  var failure: StoreError? {
    switch self {
    case .settled, .split, .locked: nil
    case .late(let failure), .unreachable(let failure): failure
    }
  }
}
