import EntitlementDomain
import TestSupport

/// Grants that stand, ended, were withdrawn, are yet to start, or belong to another environment.
enum RandomGrant {
  static func make(
    _ number: Int, _ scope: AppScope, with random: inout SeededRandom
  ) -> Grant {
    let start = random.number(0...90)
    var grant = Grant(
      id: GrantID("grant.\(number)"),
      scope: random.chance(6) ? RandomCustomer.otherScope(of: scope, &random) : scope,
      accountID: "customer", entitlementID: random.pick(RandomCatalog.entitlements),
      starts: RandomDates.near(start...start, with: &random), reason: "goodwill",
      author: "operator", createdAt: RandomDates.day(start))
    if !random.chance(3) {
      grant.expires = RandomDates.near((start + 1)...(start + 90), with: &random)
    }
    if random.chance(4) {
      grant.withdrawal = GrantWithdrawal(
        at: RandomDates.near((start - 5)...(start + 60), with: &random), author: "operator",
        reason: "mistaken")
    }
    return grant
  }
}
