/// Progress of a commitment billed in parts (R26): access follows the monthly period, this is
/// told beside it.
package struct Commitment: Hashable, Sendable {
  package var billingPeriodNumber: Int64
  package var totalBillingPeriods: Int64
  package var expiresDate: Milliseconds?

  package init(
    billingPeriodNumber: Int64, totalBillingPeriods: Int64, expiresDate: Milliseconds? = nil
  ) {
    self.billingPeriodNumber = billingPeriodNumber
    self.totalBillingPeriods = totalBillingPeriods
    self.expiresDate = expiresDate
  }
}
