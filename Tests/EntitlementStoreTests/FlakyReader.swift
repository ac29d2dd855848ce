import EntitlementDomain
import EntitlementStore

/// A reader of a model that fails after some reads. Used by one task.
final class FlakyReader: LedgerReading {
  struct Failure: Error {}

  private let model: ModelStore
  /// The number of reads before the next failure.
  var patience: Int

  init(model: ModelStore, patience: Int) {
    self.model = model
    self.patience = patience
  }

  private func attempt<Row>(_ row: Row) throws -> Row {
    patience -= 1
    if patience < 0 { throw Failure() }
    return row
  }

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    try attempt(model.standingFact(fact))
  }

  func link(of target: ScopedTarget) throws -> LinkRow? { try attempt(model.link(of: target)) }

  func events(of target: ScopedTarget) throws -> [LinkEvent] {
    try attempt(model.events(of: target))
  }

  func refusedClaim(_ key: RefusedClaim.Key) throws -> Milliseconds? {
    try attempt(model.refusedClaim(key))
  }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try attempt(model.account(account))
  }

  func token(_ token: ScopedToken) throws -> TokenRow? { try attempt(model.token(token)) }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    try attempt(model.hints(of: chain, in: scope))
  }

  func facts(of target: ScopedTarget) throws -> [Fact] { try attempt(model.facts(of: target)) }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    try attempt(model.unlinkedChains(with: hint))
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? { try attempt(model.grant(grant)) }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    try attempt(model.holdings(of: account))
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try attempt(model.isKnown(notification))
  }

  func job(_ reference: AppStoreJobReference) throws -> AppStoreJob? {
    try attempt(model.job(reference))
  }

  func consumption(_ key: ConsumptionKey) throws -> ConsumptionRecord? {
    try attempt(model.consumption(key))
  }

  func consent(of account: ScopedAccount) throws -> ConsumptionConsent? {
    try attempt(model.consent(of: account))
  }
}
