/// What every store does, whatever database is behind it. A store's tests run each case on an
/// empty database of its own.
package enum StoreConformanceSuite {
  package static let cases: [ConformanceCase] =
    mergeCases + movedTransactionCases + selectorCases + linkCases + propagationCases + claimCases
    + revisionCases + feedCases + recordCases + scopeCases + durabilityCases + concurrencyCases
}
