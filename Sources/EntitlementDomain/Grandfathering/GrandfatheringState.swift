/// What a grandfathering rule says of a customer, and why (R37).
public struct GrandfatheringState: Hashable, Sendable {
  public var ruleID: GrandfatheringRuleID
  public var outcome: GrandfatheringOutcome
  public var reason: GrandfatheringReason
  /// The evidence is contradictory or incomplete: somebody should look (R37).
  public var isFlagged: Bool
  /// The app transaction that decided, by its identity; nil when none is known.
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

/// Raw values are those of the wire.
public enum GrandfatheringOutcome: Int, Hashable, Sendable, CaseIterable {
  case granted = 1
  case denied = 2
  /// There is not enough to say: nothing is conferred, and nothing is denied for good.
  case unknown = 3
  /// The environment says nothing about who came before (R35).
  case notEvaluated = 4
}

/// What the outcome rests on. Raw values are those of the wire.
public enum GrandfatheringReason: Int, Hashable, Sendable, CaseIterable {
  /// No app transaction of this customer is known.
  case noAppTransaction = 1
  /// Sandbox, Xcode or LocalTesting without simulated values (R35).
  case environment = 2
  case versionAndDateAgree = 3
  /// They disagree, and the rule's policy decided (R37).
  case versionAndDateDisagree = 4
  /// The version is missing, or the rule has no threshold for the platform (R36).
  case dateAlone = 5
  /// The version cannot be read: flagged.
  case dateAloneUnreadableVersion = 6
  /// The date is missing, or the rule has no cutoff.
  case versionAlone = 7
  /// Neither can be used.
  case noEvidence = 8
}
