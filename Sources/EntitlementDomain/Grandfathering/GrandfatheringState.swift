/// The result of a grandfathering rule for a customer (R37).
public struct GrandfatheringState: Hashable, Sendable {
  /// The rule, by its id in the catalog.
  public var ruleID: GrandfatheringRuleID
  /// What the rule decides.
  public var outcome: GrandfatheringOutcome
  /// The reason of the outcome.
  public var reason: GrandfatheringReason
  /// Whether the data is contradictory or incomplete, so that the customer should be checked by
  /// hand (R37).
  public var isFlagged: Bool
  /// The identity of the app transaction that decided; nil when none is known.
  public var appTransactionID: AppTransactionID?

  public init(
    ruleID: GrandfatheringRuleID, outcome: GrandfatheringOutcome, reason: GrandfatheringReason,
    isFlagged: Bool, appTransactionID: AppTransactionID? = nil
  ) {
    self.ruleID = ruleID
    self.outcome = outcome
    self.reason = reason
    self.isFlagged = isFlagged
    self.appTransactionID = appTransactionID
  }
}

/// Raw values are the numbers on the wire.
public enum GrandfatheringOutcome: Int, Hashable, Sendable, CaseIterable {
  /// The rule confers its entitlements.
  case granted = 1
  /// The rule confers nothing.
  case denied = 2
  /// The data is not sufficient. Nothing is conferred, and later facts may decide.
  case unknown = 3
  /// The environment has no real versions and dates (R35).
  case notEvaluated = 4
}

/// The reason of an outcome. Raw values are the numbers on the wire.
public enum GrandfatheringReason: Int, Hashable, Sendable, CaseIterable {
  /// No app transaction of the customer is known.
  case noAppTransaction = 1
  /// Sandbox, Xcode or LocalTesting without simulated values (R35).
  case environment = 2
  /// The version and the date of the first download agree.
  case versionAndDateAgree = 3
  /// Version and date disagree, and the rule's policy decided (R37).
  case versionAndDateDisagree = 4
  /// The version is missing, or the rule has no threshold for the platform (R36).
  case dateAlone = 5
  /// The version cannot be parsed. The outcome is flagged.
  case dateAloneUnreadableVersion = 6
  /// The date is missing, or the rule has no cutoff.
  case versionAlone = 7
  /// Neither version nor date can be used.
  case noEvidence = 8
}
