/// Requirements for every store, with any database. The tests of a store run each case on a new
/// empty database.
package enum StoreConformanceSuite {
  package static let cases: [ConformanceCase] =
    factCases + claimingCases + requestCases + feedAndRecordCases

  /// Additional requirements for a store whose database is shared by several processes. The harness
  /// opens the database several times at once.
  package static let sharedCases: [ConformanceCase] =
    sharedStoreCases + sharedAuditCases + sharedJobCases + sharedConsumptionCases

  private static let factCases =
    mergeCases + versionCases + movedTransactionCases + authorityCases + documentCases
    + selectorCases + scopeCases

  private static let claimingCases =
    linkCases + propagationCases + claimCases + linkPolicyCases + refusedClaimCases
    + unsignedClaimCases + unsignedHintCases + anonymousCases + claimLimitCases + keptClaimCases
    + fullAccountCases + disputedPurchaseCases + linkAuthorCases + refusalCases
    + appTransactionClaimCases + plantedHintCases + boundTokenCases + derivedTokenCases

  private static let requestCases =
    linkRequestCases + unlinkCases + transferCases + accountMergeCases + accountDeletionCases
    + linkHistoryCases

  private static let feedAndRecordCases =
    grantCases + revisionCases + feedCases + trimmingCases + announcementCases + eventCases
    + recordCases + notificationListCases + accountRecordCases + exportCases + durabilityCases
    + concurrencyCases + contentionCases + auditCases + jobCases + consumptionCases
    + importCases + payloadCases
}
