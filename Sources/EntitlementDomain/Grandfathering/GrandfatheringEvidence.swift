/// What is known about when and how one Apple account got the app: what a rule is applied to.
struct GrandfatheringEvidence {
  /// Nil when simulated values count for a customer without an app transaction.
  let identity: AppTransactionID?
  /// How much what decides weighs; nil when the catalog simulates it.
  let authority: FactAuthority?
  /// Apple's `originalPlatform`, raw: absent in legacy receipts and in app transactions signed
  /// before it existed.
  let platform: String?
  let version: String?
  /// When the app was got (R38).
  let date: Milliseconds?
  /// What counts as the beginning of a grant when `date` is missing.
  let fallbackDate: Milliseconds

  /// In Sandbox and TestFlight everybody got the app then: 2013-08-01T07:00:00Z (R35).
  static let sandboxPurchaseDate: Milliseconds = 1_375_340_400_000

  init(_ fact: AppTransactionFact) {
    identity = fact.identity
    authority = fact.authority
    platform = fact.originalPlatform
    version = fact.originalApplicationVersion
    date = [fact.originalPurchaseDate, fact.preorderDate].compactMap { $0 }.min()
    fallbackDate = fact.signedDate
  }

  /// Of the app transaction, only the platform counts.
  init(simulated: GrandfatheringRule.Simulated, for fact: AppTransactionFact?) {
    identity = fact?.identity
    authority = nil
    platform = fact?.originalPlatform
    version = simulated.originalVersion?.description
    date = simulated.originalPurchaseDate
    fallbackDate = Self.sandboxPurchaseDate
  }
}
