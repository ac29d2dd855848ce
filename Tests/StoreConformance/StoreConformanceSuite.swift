/// What every store does, whatever database is behind it. A store's tests run each case on an
/// empty database of its own.
package enum StoreConformanceSuite {
  package static let cases: [ConformanceCase] =
    mergeCases + movedTransactionCases + authorityCases + documentCases + selectorCases + linkCases
    + propagationCases + claimCases + linkPolicyCases + refusedClaimCases + unsignedClaimCases
    + unsignedHintCases + grantCases
    + revisionCases + feedCases + eventCases + recordCases + scopeCases + durabilityCases
    + concurrencyCases
}
