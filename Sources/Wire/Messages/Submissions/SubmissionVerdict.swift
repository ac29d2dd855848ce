/// What verification said about a signed payload. Raw values are those of the wire.
public enum SubmissionVerdict: Int, Hashable, Sendable, CaseIterable {
  /// The server did not say, or is newer and said what this program does not know: refused.
  case unrecognized = 0
  case ok = 1
  case malformed = 2
  case unsupportedAlgorithm = 3
  case invalidCertificate = 4
  case untrustedChain = 5
  case certificateExpired = 6
  case certificateRevoked = 7
  /// Could not be decided now: submit it again later.
  case retryable = 8
  case invalidSignature = 9
  case wrongApp = 10
  case wrongEnvironment = 11
  /// A receipt that was made for another device than the request names.
  case wrongDevice = 12
}

/// What a signed payload is. Raw values are those of the wire.
public enum SubmittedKind: Int, Hashable, Sendable, CaseIterable {
  case transaction = 1
  case renewalInfo = 2
  case appTransaction = 3
  case notification = 4
}

/// What the store did with an accepted payload. Raw values are those of the wire.
public enum SubmissionDisposition: Int, Hashable, Sendable, CaseIterable {
  /// A fact not known before.
  case added = 1
  /// A newer version of a known fact: it stands now.
  case replaced = 2
  /// This very statement was known.
  case duplicate = 3
  /// A newer version was known: that one stands.
  case superseded = 4
}

/// What an accepted payload meant for the owner of its chain or app transaction (R42, R44). Raw
/// values are those of the wire.
public enum SubmissionLinkOutcome: Int, Hashable, Sendable, CaseIterable {
  /// No account is known for it.
  case unlinked = 1
  /// Its account is the one that it had.
  case unchanged = 2
  /// It had no account, and has one now.
  case linked = 3
  /// It left another account for the one that the submission named.
  case transferred = 4
  /// It belongs to another account than the one named, and the app's link policy keeps it there.
  case alreadyLinked = 5
  /// It belongs to another account than the one named, which has claimed as much as the app allows
  /// in a day.
  case claimLimited = 6
}
