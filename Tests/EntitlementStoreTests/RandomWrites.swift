import EntitlementDomain
import EntitlementStore
import TestSupport

/// Random writes to few accounts, chains, tokens and app transactions, so that they often conflict.
struct RandomWrites {
  private var random: SeededRandom
  private var clock: Milliseconds = Sample.now
  private var version: Int64 = 0

  private let accounts: [AccountID] = [
    "alice", "bob", "carol", "anonymous:1", "anonymous:2", "anonymous:3",
  ]
  private let scopes = [
    Sample.scope,
    AppScope(bundleID: Sample.scope.bundleID, environment: .sandbox),
  ]

  init(_ random: SeededRandom) {
    self.random = random
  }

  mutating func writes(_ count: Int) -> [ModelWrite] {
    (0..<count).map { _ in write() }
  }

  private mutating func write() -> ModelWrite {
    // Mostly seconds, sometimes hours, and sometimes a little back.
    let step: Int64 = isLucky(oneIn: 6) ? 7 * Milliseconds.hourLength : 1_000
    clock = clock.advanced(by: isLucky(oneIn: 8) ? -1_000 : step)
    switch number(0..<20) {
    case 0: return .grant(Sample.grant(grantID, to: accountID, at: clock, in: scope))
    case 1:
      return .withdrawal(
        grantID, scope, GrantWithdrawal(at: clock, author: "operator", reason: "over"))
    case 2..<8: return .request(request())
    default: return .submission(submission())
    }
  }

  // MARK: Names

  private mutating func number(_ range: Range<Int>) -> Int { .random(in: range, using: &random) }
  private mutating func isLucky(oneIn odds: Int) -> Bool { number(0..<odds) == 0 }

  private var scope: AppScope {
    mutating get { scopes[isLucky(oneIn: 6) ? 1 : 0] }
  }
  private var accountID: AccountID {
    mutating get { accounts[number(0..<accounts.count)] }
  }
  private var grantID: GrantID {
    mutating get { GrantID("grant-\(number(0..<5))") }
  }
  private var chain: OriginalTransactionID {
    mutating get { OriginalTransactionID("\(number(1..<8))") }
  }
  private var appTransaction: AppTransactionID {
    mutating get { AppTransactionID("90\(number(0..<4))") }
  }
  private var token: AppAccountToken {
    mutating get { AppAccountToken("token-\(number(0..<4))") }
  }
  private var target: LinkTarget {
    mutating get { isLucky(oneIn: 4) ? .appTransaction(appTransaction) : .chain(chain) }
  }

  // MARK: Writes

  private mutating func request() -> LinkRequest {
    let change: LinkRequest.Change =
      switch number(0..<12) {
      case 0..<3: .link(target, to: accountID)
      case 3..<5: .unlink(target)
      case 5..<7: .transfer(target, from: isLucky(oneIn: 2) ? accountID : nil, to: accountID)
      case 7..<9: .merge(accountID, into: accountID)
      case 9: .delete(accountID)
      default: .bindToken(token, to: isLucky(oneIn: 4) ? nil : accountID)
      }
    return LinkRequest(
      scope: scope, change: change, reason: "ticket 7", at: clock,
      caller: Sample.caller)
  }

  private mutating func submission() -> ModelSubmission {
    let scope = scope
    var submission = ModelSubmission(
      facts: (0..<number(0..<4)).map { _ in fact(in: scope) }, receivedAt: clock,
      catalog: Sample.catalog(
        LinkPolicy.allCases[number(0..<LinkPolicy.allCases.count)], claimsPerDay: number(1..<4),
        claimsPerPurchase: number(1..<5)))
    if !isLucky(oneIn: 3) { submission.accountID = accountID }
    if isLucky(oneIn: 5) { submission.anonymousAccountID = accountID }
    if isLucky(oneIn: 4) {
      submission.notification = Sample.notification(NotificationUUID("n\(number(0..<9))"))
      // A notification in a document is refused. The write must leave the model unchanged.
      if isLucky(oneIn: 4) { submission.notification?.signed.proof = .document([1]) }
    }
    return submission
  }

  private mutating func fact(in scope: AppScope) -> SignedFact {
    version = Int64(number(0..<30))
    let hint = number(0..<6)
    let (token, app, previous) = (token, appTransaction, chain)
    let isExpired = isLucky(oneIn: 2)
    let fact =
      isLucky(oneIn: 6)
      ? Sample.appTransaction(app, version: version, in: scope)
      : Sample.transaction(
        TransactionID("\(number(1..<12))"), chain, version: version, in: scope
      ) { fact in
        switch hint {
        case 0, 1: fact.appAccountToken = token
        case 2, 3: fact.appTransactionID = app
        case 4: fact.previousOriginalTransactionID = previous
        default: break
        }
        if isExpired { fact.expiresDate = 1 }
      }
    return isLucky(oneIn: 7)
      ? Sample.unsigned(fact, document: "response \(number(0..<3))") : fact
  }
}
