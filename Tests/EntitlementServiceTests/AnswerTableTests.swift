import EntitlementDomain
import EntitlementStore
import NIOCore
import Testing

@testable import EntitlementService

@Suite("Answers in memory")
struct AnswerTableTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private func key(_ id: AccountID) -> AnswerKey {
    AnswerKey(subject(id))
  }

  private func subject(_ id: AccountID) -> CustomerSubject { .account(Self.scope, id) }

  private func answer(
    _ text: String, of id: AccountID, validUntil: Milliseconds? = nil
  ) -> CustomerAnswer {
    CustomerAnswer(
      encoded: ByteBuffer(string: text), revision: 1, validUntil: validUntil,
      isUnchangedSinceRevision: true,
      subject: subject(id))
  }

  private func table(bytes: Int = 1 << 20) -> AnswerTable { AnswerTable(bytes: bytes) }

  private func load(_ text: String, of id: AccountID, into table: AnswerTable) {
    load(for: key(id), into: table, answer(text, of: id))
  }

  private final class Caller: ReadWaiter {
    let isWaiting = true
    func finish(_ result: Result<CustomerAnswer, ServiceError>) {}
  }

  /// A load that asks the store from now on.
  private func begun(_ key: AnswerKey, in table: AnswerTable) -> CustomerLoad {
    let query = CustomerQuery(selector: .account("a"), scope: Self.scope)
    let lookup = table.lookup(
      query, key: key, AnswerTable.Terms(allowsCached: false), revision: nil, at: 0, { Caller() })
    guard case .begun(let load) = lookup else { preconditionFailure("a load is in flight") }
    _ = table.loadsBegan([load], required: .min, followed: .min)
    return load
  }

  private func load(for key: AnswerKey, into table: AnswerTable, _ answer: CustomerAnswer) {
    _ = table.loadsEnded([(begun(key, in: table), answer)])
  }

  @Test("R30: an answer is served before its next transition, and never at or after it")
  func transition() {
    let table = table()
    load(for: key("a"), into: table, answer("x", of: "a", validUntil: 1_000))
    #expect(table.answer(for: key("a"), at: 999)?.text == "x")
    #expect(table.answer(for: key("a"), at: 1_000) == nil)
    // It was dropped, not only passed over.
    #expect(table.statistics.entries == 0)
    #expect(table.statistics.bytes == 0)
  }

  @Test("A question in the bytes of a request finds what its key finds, and nothing else")
  func bytes() {
    let table = table()
    load("x", of: "a", into: table)
    load("y", of: "a-longer-account-id", into: table)
    let chain = CustomerSubject.unlinkedChain(Self.scope, "a")
    let key = AnswerKey(chain)
    load(
      for: key, into: table,
      CustomerAnswer(
        encoded: ByteBuffer(string: "z"), revision: 1, validUntil: nil,
        isUnchangedSinceRevision: true, subject: chain))
    #expect(found("a", in: table) == "x")
    #expect(found("a-longer-account-id", in: table) == "y")
    #expect(found("a", isChain: true, in: table) == "z")
    #expect(found("b", in: table) == nil)
    #expect(found("a-longer-account-iD", in: table) == nil)
    #expect(found("a", bundleID: "com.example.scribf", in: table) == nil)
    #expect(found("a", bundleID: "com.example.scribe2", in: table) == nil)
    #expect(found("a", environment: .sandbox, in: table) == nil)
    #expect(table.statistics.hits == 3)
    table.changed([subject("a")])
    #expect(found("a", in: table) == nil)
  }

  @Test("R30: nor is it served at or after its next transition to a question in bytes")
  func transitionOfBytes() {
    let table = table()
    load(for: key("a"), into: table, answer("x", of: "a", validUntil: 1_000))
    #expect(found("a", at: 999, in: table) == "x")
    #expect(found("a", at: 1_000, in: table) == nil)
    #expect(table.statistics.hits == 1)
  }

  private func found(
    _ id: String, isChain: Bool = false, bundleID: String = "com.example.scribe",
    environment: StoreEnvironment = .production, at now: Milliseconds = 0, in table: AnswerTable
  ) -> String? {
    Array(id.utf8).withUnsafeBytes { id in
      Array(bundleID.utf8).withUnsafeBytes { bundleID in
        let question =
          isChain
          ? QuestionBytes(originalTransaction: id, bundleID: bundleID, environment: environment)
          : QuestionBytes(account: id, bundleID: bundleID, environment: environment)
        return table.answer(for: question, ServiceClock { now })?.text
      }
    }
  }

  @Test("A change drops the answers of its customer, and no others")
  func change() {
    let table = table()
    load("x", of: "a", into: table)
    load("y", of: "b", into: table)
    table.changed([subject("a")])
    #expect(table.answer(for: key("a"), at: 0) == nil)
    #expect(table.answer(for: key("b"), at: 0)?.text == "y")
  }

  @Test("An answer whose customer changed while it was loaded is not kept")
  func changedMeanwhile() {
    let table = table()
    let early = begun(key("a"), in: table)
    let other = begun(key("b"), in: table)
    table.changed([subject("a")])
    let late = begun(key("a"), in: table)
    _ = table.loadsEnded([(early, answer("old", of: "a"))])
    #expect(table.answer(for: key("a"), at: 0) == nil)
    _ = table.loadsEnded([(other, answer("b", of: "b"))])
    #expect(table.answer(for: key("b"), at: 0)?.text == "b")
    _ = table.loadsEnded([(late, answer("new", of: "a"))])
    #expect(table.answer(for: key("a"), at: 0)?.text == "new")
  }

  @Test("More changes than are remembered make every load under way out of date")
  func manyChanges() {
    let table = table()
    let early = begun(key("a"), in: table)
    table.changed((0...10_000).map { subject(AccountID("x\($0)")) })
    _ = table.loadsEnded([(early, answer("old", of: "a"))])
    #expect(table.answer(for: key("a"), at: 0) == nil)
    load("new", of: "a", into: table)
    #expect(table.answer(for: key("a"), at: 0)?.text == "new")
  }

  @Test("The bytes are bounded; what was used last stays")
  func bounded() {
    let table = table(bytes: 2_000)
    let large = String(repeating: "x", count: 300)
    load(large, of: "a", into: table)
    load(large, of: "b", into: table)
    _ = table.answer(for: key("a"), at: 0)
    load(large, of: "c", into: table)
    #expect(table.answer(for: key("a"), at: 0) != nil)
    #expect(table.answer(for: key("b"), at: 0) == nil)
    #expect(table.statistics.evictions == 1)
    #expect(table.statistics.bytes <= 2_000)
    // One that could never fit drops nothing.
    load(String(repeating: "x", count: 3_000), of: "d", into: table)
    #expect(table.statistics.entries == 2)
  }

  @Test("An answer that depends on more than one customer is not held")
  func withoutSubject() {
    let table = table()
    let answer = CustomerAnswer(
      encoded: ByteBuffer(string: "x"), revision: 1, validUntil: nil,
      isUnchangedSinceRevision: true, subject: nil)
    load(for: key("a"), into: table, answer)
    #expect(table.answer(for: key("a"), at: 0) == nil)
  }

  @Test("An answer goes with a change of the customer found, and of whoever its question names")
  func otherSubject() {
    let table = table()
    let chain = CustomerSubject.unlinkedChain(Self.scope, "c")
    for changed in [subject("owner"), chain] {
      load(for: AnswerKey(chain), into: table, answer("x", of: "owner"))
      load("y", of: "c", into: table)
      table.changed([subject("other"), .unlinkedChain(Self.scope, "other")])
      #expect(table.answer(for: AnswerKey(chain), at: 0)?.text == "x")
      table.changed([changed])
      #expect(table.answer(for: AnswerKey(chain), at: 0) == nil)
      // The account has the same id as the chain.
      #expect(table.answer(for: key("c"), at: 0)?.text == "y")
    }
    #expect(AnswerKey(selector: .transaction("t"), scope: Self.scope) == nil)
  }

  @Test("Hits, misses and joined loads are counted")
  func counted() {
    let table = table()
    #expect(table.answer(for: key("a"), at: 0) == nil)
    #expect(table.statistics.misses == 0)
    let first = begun(key("a"), in: table)
    let query = CustomerQuery(selector: .account("a"), scope: Self.scope)
    guard
      case .joined = table.lookup(
        query, key: key("a"), AnswerTable.Terms(), revision: nil, at: 0, { Caller() })
    else {
      Issue.record("a load in flight was not joined")
      return
    }
    let ended = table.loadsEnded([(first, answer("x", of: "a"))])
    #expect(ended.map(\.waiters.count) == [2])
    _ = table.answer(for: key("a"), at: 0)
    #expect(table.statistics.hits == 1)
    #expect(table.statistics.misses == 2)
    #expect(table.statistics.joinedLoads == 1)
  }
}

extension AnswerTable {
  fileprivate func answer(for key: AnswerKey, at now: Milliseconds) -> CustomerAnswer? {
    answer(for: key, Terms(), at: now)
  }
}
