import EntitlementDomain
import EntitlementStore

/// Reads a book, and fails after some reads. Used from one task.
final class FlakyReader: LedgerReading {
  struct Failure: Error {}

  private let book: Book
  /// How many reads succeed until the next that fails.
  var patience: Int

  init(book: Book, patience: Int) {
    self.book = book
    self.patience = patience
  }

  private func attempt<Row>(_ row: Row) throws -> Row {
    patience -= 1
    if patience < 0 { throw Failure() }
    return row
  }

  func standingFact(_ fact: ScopedFact) throws -> StandingFact? {
    try attempt(book.standingFact(fact))
  }

  func link(of target: ScopedTarget) throws -> LinkRow? { try attempt(book.link(of: target)) }

  func account(_ account: ScopedAccount) throws -> AccountRow? {
    try attempt(book.account(account))
  }

  func account(of token: ScopedToken) throws -> AccountID? { try attempt(book.account(of: token)) }

  func hints(of chain: OriginalTransactionID, in scope: AppScope) throws -> [FactHintsRow] {
    try attempt(book.hints(of: chain, in: scope))
  }

  func facts(of target: ScopedTarget) throws -> [Fact] { try attempt(book.facts(of: target)) }

  func unlinkedChains(with hint: ScopedHint) throws -> [OriginalTransactionID] {
    try attempt(book.unlinkedChains(with: hint))
  }

  func grant(_ grant: ScopedGrant) throws -> Grant? { try attempt(book.grant(grant)) }

  func holdings(of account: ScopedAccount) throws -> AccountHoldings {
    try attempt(book.holdings(of: account))
  }

  func isKnown(_ notification: NotificationUUID) throws -> Bool {
    try attempt(book.isKnown(notification))
  }
}
