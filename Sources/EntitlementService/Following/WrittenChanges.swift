package import EntitlementStore

/// Who has to be read anew, and how new what is read must be to hold what was written.
package struct WrittenChanges: Hashable, Sendable {
  package var subjects: [CustomerSubject]
  /// The sequence number of the latest of the changes, or a later one.
  package var latest: Int64

  package init(subjects: [CustomerSubject], latest: Int64) {
    self.subjects = subjects
    self.latest = latest
  }
}
