import EntitlementDomain
import EntitlementStore
import Testing

// Each load of a store that reads ahead is a round trip to its database.
@Suite("Reading ahead")
struct ReadAheadTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    /// The writes before the test.
    var stored: [ModelSubmission] = []
    let write: ModelWrite
    /// Loads after the load of the expected rows.
    let extraRounds: Int
  }

  private static func submission(
    _ facts: [SignedFact], by account: AccountID? = nil, anonymous: AccountID? = nil,
    notification: SignedNotification? = nil, at: Milliseconds = Sample.now,
    under policy: LinkPolicy = .transfer
  ) -> ModelSubmission {
    ModelSubmission(
      facts: facts, accountID: account, anonymousAccountID: anonymous,
      notification: notification, receivedAt: at, catalog: Sample.catalog(policy))
  }

  /// A transaction of an app that sets tokens.
  private static func purchase(
    _ id: TransactionID, _ chain: OriginalTransactionID, version: Int64 = 0
  ) -> SignedFact {
    Sample.transaction(id, chain, version: version) { fact in
      fact.appAccountToken = "token"
      fact.appTransactionID = "900"
    }
  }

  private static let usual = [
    Case(
      testDescription: "a first purchase, with the account",
      write: .submission(
        submission([purchase("1", "1"), Sample.appTransaction("900")], by: "alice")),
      extraRounds: 0),
    Case(
      testDescription: "a first purchase, by a notification without a known customer",
      write: .submission(
        submission([purchase("1", "1")], notification: Sample.notification("n1"))),
      extraRounds: 0),
    Case(
      testDescription: "the account of a purchase that an earlier notification contained",
      stored: [submission([purchase("1", "1")])],
      write: .submission(submission([purchase("1", "1")], by: "alice")),
      extraRounds: 0),
    Case(
      testDescription: "a renewal, by a notification",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: .submission(
        submission([purchase("2", "1", version: 9)], notification: Sample.notification("n1"))),
      extraRounds: 0),
    Case(
      testDescription: "a repeated notification",
      stored: [
        submission(
          [purchase("1", "1")], by: "alice", notification: Sample.notification("n1"))
      ],
      write: .submission(
        submission([purchase("1", "1")], notification: Sample.notification("n1"))),
      extraRounds: 0),
    Case(
      testDescription: "a restore by the owner",
      stored: [submission([purchase("1", "1"), purchase("2", "2")], by: "alice")],
      write: .submission(submission([purchase("1", "1"), purchase("2", "2")], by: "alice")),
      extraRounds: 0),
    Case(
      testDescription: "a claim that is granted",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: .submission(submission([purchase("1", "1")], by: "bob")), extraRounds: 1),
    Case(
      testDescription: "a claim that is refused",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: .submission(submission([purchase("1", "1")], by: "bob", under: .keep)),
      extraRounds: 1),
    Case(
      testDescription: "claims that are judged by what is in force",
      stored: [submission([purchase("1", "1"), purchase("2", "2")], by: "alice")],
      write: .submission(
        submission(
          [purchase("1", "1"), purchase("2", "2")], by: "bob", under: .transferIfInactive)),
      extraRounds: 2),
    Case(
      testDescription: "an app transaction that is judged by the chains of its owner",
      stored: [submission([purchase("1", "1"), purchase("2", "2")], by: "alice")],
      write: .submission(
        submission([Sample.appTransaction("900")], by: "bob", under: .transferIfInactive)),
      extraRounds: 4),
    Case(
      testDescription: "a chain that is found by its token",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: .submission(submission([purchase("2", "2")])), extraRounds: 1),
    Case(
      testDescription: "an anonymous account that signs in",
      stored: [submission([purchase("1", "1"), purchase("2", "2")], by: "anonymous:1")],
      write: .submission(
        submission([purchase("1", "1")], by: "alice", anonymous: "anonymous:1")),
      extraRounds: 1),
    Case(
      testDescription: "a name that was merged, by the owner",
      stored: [
        submission([purchase("1", "1")], by: "anonymous:1"),
        submission([purchase("1", "1")], by: "alice", anonymous: "anonymous:1"),
      ],
      write: .submission(submission([purchase("1", "1")], by: "anonymous:1")), extraRounds: 0),
    Case(
      testDescription: "a token that becomes known, for three chains stored with it",
      stored: [submission([purchase("2", "2"), purchase("3", "3"), purchase("4", "4")])],
      write: .submission(submission([purchase("1", "1")], by: "alice")), extraRounds: 2),
    Case(
      testDescription: "a grant", write: .grant(Sample.grant("g", to: "alice")), extraRounds: 0),
    Case(
      testDescription: "a link by request", stored: [submission([purchase("1", "1")])],
      write: request(.link(.chain("1"), to: "alice")), extraRounds: 1),
    Case(
      testDescription: "an unlink by request",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: request(.unlink(.chain("1"))), extraRounds: 0),
    Case(
      testDescription: "a transfer by request",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: request(.transfer(.chain("1"), from: "alice", to: "bob")), extraRounds: 1),
    Case(
      testDescription: "a merge by request",
      stored: [submission([purchase("1", "1")], by: "alice")],
      write: request(.merge("alice", into: "bob")), extraRounds: 1),
    Case(
      testDescription: "a deletion", stored: [submission([purchase("1", "1")], by: "alice")],
      write: request(.delete("alice")), extraRounds: 1),
  ]

  private static func request(_ change: LinkRequest.Change) -> ModelWrite {
    .request(
      LinkRequest(
        scope: Sample.scope, change: change, reason: "ticket 7",
        at: Sample.now,
        caller: Sample.caller))
  }

  @Test("Usual writes need few or no loads after the expected rows", arguments: usual)
  func rounds(_ row: Case) throws {
    var model = ModelStore()
    for submission in row.stored { _ = try model.write(.submission(submission)) }
    let run = try ReadAheadRun([row.write], over: model)
    #expect(run.extraRounds == row.extraRounds)
    #expect(run.outcomes == [try model.write(row.write)])
  }

  @Test("Many purchases of one submission need no more loads than one")
  func many() throws {
    var model = ModelStore()
    let facts = (0..<50).map { number in
      Self.purchase(TransactionID("\(number)"), OriginalTransactionID("\(number)"))
    }
    let alice = ModelWrite.submission(Self.submission(facts, by: "alice"))
    #expect(try ReadAheadRun([alice], over: model).extraRounds == 0)
    _ = try model.write(alice)
    let bob = ModelWrite.submission(Self.submission(facts, by: "bob", under: .transferIfInactive))
    #expect(try ReadAheadRun([bob], over: model).extraRounds == 2)
    // Also for a store that ignores the announced reads.
    #expect(try ReadAheadRun([bob], over: model, isForesighted: false).extraRounds == 2)
  }
}
