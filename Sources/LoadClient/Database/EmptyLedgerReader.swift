import EntitlementDomain
import EntitlementStore

/// What a ledger reads of a customer of whom nothing is known yet.
struct EmptyLedgerReader: LedgerReading {
  func standingFact(_ fact: ScopedFact) -> StandingFact? { nil }
  func link(of target: ScopedTarget) -> LinkRow? { nil }
  func account(_ account: ScopedAccount) -> AccountRow? { nil }
  func account(of token: ScopedToken) -> AccountID? { nil }
  func hints(of chain: OriginalTransactionID, in scope: AppScope) -> [FactHintsRow] { [] }
  func facts(of target: ScopedTarget) -> [Fact] { [] }
  func unlinkedChains(with hint: ScopedHint) -> [OriginalTransactionID] { [] }
  func grant(_ grant: ScopedGrant) -> Grant? { nil }
  func holdings(of account: ScopedAccount) -> AccountHoldings { AccountHoldings() }
  func isKnown(_ notification: NotificationUUID) -> Bool { false }
}
