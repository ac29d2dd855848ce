package import EntitlementStore

/// The customers that a write changed. Their cached answers are out of date.
package struct WrittenChanges: Hashable, Sendable {
  package var subjects: [CustomerSubject]
  /// The sequence number of the latest of the changes, or a later one. An answer that includes it
  /// reflects the write.
  package var latest: Int64

  package init(subjects: [CustomerSubject], latest: Int64) {
    self.subjects = subjects
    self.latest = latest
  }
}
