import EntitlementDomain
import EntitlementStore
import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("The limits of the embedded store")
struct SQLiteStoreLimitsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(_ change: (inout SQLiteStoreLimits) -> Void) throws -> SQLiteStore {
    var limits = SQLiteStoreLimits()
    change(&limits)
    return try SQLiteStore.open(at: folder.file("entitle.sqlite"), limits: limits)
  }

  private func code(_ body: () async throws(StoreError) -> Void) async -> StoreError.Code? {
    do throws(StoreError) {
      try await body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("A write that does not fit fails whole; other writes are stored before, with and after it")
  func full() async throws {
    let store = try open { $0.maximumDatabaseBytes = 400_000 }
    try await store.submit(testFact(1))
    let refused = await code { () async throws(StoreError) in
      try await store.submit(testFact(2), testFact(3, padding: 900_000))
    }
    #expect(refused == .full)
    #expect(try await store.storedNumbers() == [1])

    // Writes that share a transaction with one that does not fit.
    let codes = await withTaskGroup(of: (Int, StoreError.Code?).self) { group in
      for number in 10..<40 {
        let padding = number.isMultiple(of: 10) ? 900_000 : 0
        group.addTask {
          (
            number,
            await code { () async throws(StoreError) in
              try await store.submit(testFact(number, padding: padding))
            }
          )
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(codes == [10: .full, 20: .full, 30: .full])
    let expected = Set([1] + (10..<40).filter { !$0.isMultiple(of: 10) })
    #expect(Set(try await store.storedNumbers()) == expected)
    await store.close()
  }

  @Test("A full store answers, repeats what it knows, and goes on when there is room")
  func fullToTheBrim() async throws {
    // Most of it is taken by the tables of an empty file.
    var store = try open { $0.maximumDatabaseBytes = 600_000 }
    var stored: [Int] = []
    while await code({ () async throws(StoreError) in
      try await store.submit(testFact(stored.count, padding: 3_000))
    }) == nil {
      stored.append(stored.count)
      try #require(stored.count < 400, "the limit has no effect")
    }
    #expect(stored.count > 10)
    #expect(try await store.storedNumbers() == stored)
    try await store.checkHealth()
    #expect(try await store.submit(testFact(0, padding: 3_000)).dispositions == [.duplicate])
    await store.close()

    store = try open { $0.maximumDatabaseBytes = 4_000_000 }
    #expect(try await store.storedNumbers() == stored)
    let next = try await store.submit(testFact(stored.count, padding: 3_000))
    // The refused commit took no number of the feed.
    #expect(next.customers.map(\.revision) == [Int64(stored.count + 1)])
    await store.close()
  }

  @Test("Calls beyond the queue limit are refused at once")
  func waiting() async throws {
    let store = try open {
      $0.maximumWaitingCommits = 0
      $0.maximumWaitingReads = 0
    }
    #expect(
      await code { () async throws(StoreError) in try await store.submit(testFact(1)) }
        == .unavailable)
    #expect(
      await code { () async throws(StoreError) in try await store.checkHealth() } == .unavailable)
    await store.close()
  }

  @Test("While another process locks the database, waiting writes fail together after one timeout")
  func heldByAnother() async throws {
    let timeout = 0.5
    let store = try open { $0.lockTimeoutSeconds = timeout }
    try await store.submit(testFact(0))
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(
      path: folder.file("entitle.sqlite"), configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }

    let start = ContinuousClock.now
    let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
      for number in 1...200 {
        group.addTask {
          await code { () async throws(StoreError) in try await store.submit(testFact(number)) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes == Array(repeating: .unavailable, count: 200))
    // One by one they would take 200 timeouts. On a busy machine they come late, and in groups.
    #expect(start.duration(to: .now) < .seconds(100 * timeout))

    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    try other.close()
    try await store.submit(testFact(201))
    #expect(Set(try await store.storedNumbers()) == [0, 201])
    await store.close()
  }

  @Test("A submission that cannot be stored fails alone")
  func failsAlone() async throws {
    let store = try open { _ in }
    let codes = await withTaskGroup(of: (Int, StoreError.Code?).self) { group in
      for number in 0..<60 {
        var fact = testFact(number)
        if number % 7 == 3, case .transaction(var transaction) = fact.fact {
          transaction.originalTransactionID = "\u{0}"
          fact.fact = .transaction(transaction)
        }
        group.addTask { [fact] in
          (
            number,
            await code { () async throws(StoreError) in try await store.submit(fact) }
          )
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let bad = (0..<60).filter { $0 % 7 == 3 }
    #expect(codes == Dictionary(uniqueKeysWithValues: bad.map { ($0, .internalFault) }))
    #expect(Set(try await store.storedNumbers()) == Set(0..<60).subtracting(bad))
    await store.close()
  }

  @Test("A fact that cannot be read again is reported as corrupt, and harms no other")
  func corrupt() async throws {
    let store = try open { _ in }
    var unreadable = testFact(1)
    unreadable.signed.payload = Array("{".utf8)
    var foreign = testFact(2)
    foreign.signed.payload = testFact(2).signed.payload
    if case .transaction(var transaction) = foreign.fact {
      transaction.environment = .sandbox
      foreign.fact = .transaction(transaction)
    }
    try await store.submit(unreadable, foreign, testFact(3))
    for (fact, expected) in [(unreadable, StoreError.Code.corrupt), (foreign, .corrupt)] {
      let found = await code { () async throws(StoreError) in
        _ = try await store.signedFact(fact.fact.key, in: fact.fact.scope)
      }
      #expect(found == expected)
      let customer = await code { () async throws(StoreError) in
        _ = try await store.customer(
          .transaction(TransactionID(fact.fact.key.identifier)), in: fact.fact.scope)
      }
      #expect(customer == expected)
    }
    #expect(try await store.customer(.transaction("3"), in: testScope).record.facts.count == 1)
    await store.close()
  }
}
