/// Progress of a commitment billed in parts (R26): access follows the monthly period, this is
/// told beside it.
public struct Commitment: Hashable, Sendable {
  public var billingPeriodNumber: Int64
  public var totalBillingPeriods: Int64
  public var expiresDate: Milliseconds?

  public init(
    billingPeriodNumber: Int64, totalBillingPeriods: Int64, expiresDate: Milliseconds? = nil
  ) {
    self.billingPeriodNumber = billingPeriodNumber
    self.totalBillingPeriods = totalBillingPeriods
    self.expiresDate = expiresDate
  }
}
