/// What exports of accounts may cost.
package struct ExportLimits: Hashable, Sendable {
  /// Exports at once: each holds all that is known of an account until it is read. The store reads
  /// each on one of the connections that write, of which some are to be left for writing.
  package var exports: Int

  package init(exports: Int = 3) {
    self.exports = exports
  }
}
