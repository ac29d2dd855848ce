/// What watches of the change feed may cost.
package struct WatchLimits: Hashable, Sendable {
  /// Watches at once: each costs memory for what its reader has not read, and a look at each change.
  package var watches: Int
  /// After how long without a change that is asked for the cursor is told: so that it does not stay
  /// behind the feed until it expires.
  package var heartbeat: Duration
  /// The latest changes that are held for all watches together: a reader that is less behind costs
  /// no read of the store. A few hundred bytes each.
  package var window: Int
  /// Changes that are read from the store at once.
  package var page: Int
  /// Changes whose states are loaded before the first of them is sent: few, as states are larger.
  package var batch: Int
  /// States that are loaded at the same time for one watch.
  package var loads: Int

  package init(
    watches: Int = 256, heartbeat: Duration = .seconds(10), window: Int = 4_096,
    page: Int = 1_000, batch: Int = 64, loads: Int = 8
  ) {
    self.watches = watches
    self.heartbeat = heartbeat
    self.window = window
    self.page = page
    self.batch = batch
    self.loads = loads
  }
}
