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

  /// What a write of this node changed. All its changes are of one transaction, which is read as a
  /// whole: the revision of one customer stands for those of the others.
  init(_ subjects: [CustomerSubject], _ customers: [CustomerRevision]) {
    self.init(subjects: subjects, latest: customers.map(\.revision).max() ?? 0)
  }
}
