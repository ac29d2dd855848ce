/// What every store does, whatever database is behind it. A store's tests run each case on an
/// empty database of its own.
package enum StoreConformanceSuite {
  package static let cases: [ConformanceCase] =
    factCases + claimingCases + requestCases + feedAndRecordCases

  /// Beyond ``cases``, what a store does whose database several processes share. The harness opens
  /// the database several times at once.
  package static let sharedCases: [ConformanceCase] = sharedStoreCases

  private static let factCases =
    mergeCases + movedTransactionCases + authorityCases + documentCases + selectorCases + scopeCases

  private static let claimingCases =
    linkCases + propagationCases + claimCases + linkPolicyCases + refusedClaimCases
    + unsignedClaimCases + unsignedHintCases + anonymousCases + claimLimitCases + keptClaimCases
    + appTransactionClaimCases

  private static let requestCases =
    linkRequestCases + unlinkCases + transferCases + accountMergeCases + accountDeletionCases

  private static let feedAndRecordCases =
    grantCases + revisionCases + feedCases + trimmingCases + announcementCases + eventCases
    + recordCases + accountRecordCases + exportCases + durabilityCases + concurrencyCases
    + contentionCases
}
