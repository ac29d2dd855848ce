/// What exports of accounts may cost.
package struct ExportLimits: Hashable, Sendable {
  /// Exports at once: each holds all that is known of an account until it is read. The store reads
  /// each on one of the connections that write, of which some are to be left for writing.
  package var exports: Int

  /// How long one may take with its reading: somebody who reads slowly, but reads, would keep a place
  /// for as long as he likes. 100 MB, far more than most accounts have, are read in this time at
  /// 3 Mbit/s.
  package var time: Duration

  package init(exports: Int = 3, time: Duration = .seconds(300)) {
    self.exports = exports
    self.time = time
  }
}
