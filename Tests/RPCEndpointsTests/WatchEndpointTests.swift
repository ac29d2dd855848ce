import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
import NIOCore
import RPCClient
@testable import RPCEndpoints
import RPCServer
import ServiceSupport
import SQLiteStore
import StoreSimulator
import Testing
import Wire

@Suite("WatchCustomerStates on the wire", .timeLimit(.minutes(1)))
struct WatchEndpointTests {
  private static let scope = ServiceBench.scope

  private func grant(_ bench: ServiceBench, to account: AccountID) async throws -> Int64 {
    try await bench.client.addGrant(
      AddGrantRequest(
        scope: Self.scope, accountID: account, entitlementID: "pro", reason: "r", onBehalfOf: "a")
    ).revision
  }

  @Test("A watch sends its start cursor, then each change with the state after it")
  func told() async throws {
    try await ServiceBench.run { bench async throws in
      let before = try await grant(bench, to: "anna")
      var watch = try bench.client.watchCustomerStates(WatchCustomerStatesRequest())
        .makeAsyncIterator()
      #expect(try await watch.next()?.cursor.hasPrefix("\(before).") == true)
      let revision = try await grant(bench, to: "bert")
      let told = try #require(try await watch.next())
      #expect(told.cursor.hasPrefix("\(revision)."))
      let change = try #require(told.change)
      #expect(change.sequence == revision)
      #expect(change.kinds == [.grants])
      #expect(change.scope == Self.scope)
      #expect(change.subject == .account("bert"))
      #expect(change.committedAt == ServiceBench.now)
      guard case .state(let state) = try await bench.state(of: .account("bert")) else { return }
      #expect(change.state == state)

      // From a cursor, filtered, without states.
      var resumed = try bench.client.watchCustomerStates(
        WatchCustomerStatesRequest(
          cursor: WatchCustomerStatesRequest.beginning, bundleID: Self.scope.bundleID,
          environment: Self.scope.environment, accountIDs: ["bert"], kinds: [.grants],
          isWithoutStates: true)
      ).makeAsyncIterator()
      #expect(try await resumed.next()?.change == nil)
      let again = try await resumed.next()?.change
      #expect(again?.sequence == revision)
      #expect(again?.state == nil)
    }
  }

  @Test("A submission is sent to watches with all its changes and events")
  func submission() async throws {
    try await ServiceBench.run { bench async throws in
      var watch = try bench.client.watchCustomerStates(WatchCustomerStatesRequest())
        .makeAsyncIterator()
      _ = try await watch.next()
      let jws = try #require(
        try bench.signed(.refunded, seed: 1).compactMap(\.notification).last)
      let answer = try await bench.client.submitNotification(
        SubmitNotificationRequest(signedPayload: jws, accountID: "anna"))
      let change = try #require(try await watch.next()?.change)
      #expect(change.kinds == [.facts, .linked, .events])
      #expect(change.events == answer.events)
      #expect(change.state?.revision == change.sequence)
      #expect(change.state?.accountID == "anna")
    }
  }

  @Test("A watch without changes sends its cursor periodically")
  func heartbeat() async throws {
    try await ServiceBench.run(watches: WatchLimits(heartbeat: .milliseconds(50))) {
      bench async throws in
      var watch = try bench.client.watchCustomerStates(
        WatchCustomerStatesRequest(
          bundleID: Self.scope.bundleID, environment: Self.scope.environment,
          accountIDs: ["anna"])
      ).makeAsyncIterator()
      _ = try await watch.next()
      let other = try await grant(bench, to: "bert")
      var cursor = ""
      while !cursor.hasPrefix("\(other).") {
        let beat = try #require(try await watch.next())
        #expect(beat.change == nil)
        cursor = beat.cursor
      }
    }
  }

  @Test(
    "Invalid cursors, unknown cursors and too many watches have their own codes"
  )
  func refused() async throws {
    try await ServiceBench.run(watches: WatchLimits(watches: 1)) { bench async throws in
      func error(_ cursor: String?) async -> RPCClientError? {
        do {
          for try await _ in try bench.client.watchCustomerStates(
            WatchCustomerStatesRequest(cursor: cursor))
          {
            return nil
          }
          return nil
        } catch let error as CustomerWatchError {
          return error.cause
        } catch {
          return nil
        }
      }
      let first = try await grant(bench, to: "anna")
      let second = try await grant(bench, to: "bert")
      let refusal = await error("nonsense")
      #expect(refusal?.code == .status(.invalidArgument))
      #expect(refusal?.fieldViolations.map(\.field) == ["cursor"])
      for cursor in ["\(second + 1)", "\(second).1"] {
        #expect(await error(cursor)?.code == .status(.outOfRange))
      }
      _ = try await bench.store.trimChanges(committedBefore: Milliseconds(.max), limit: 10)
      #expect(await error("\(first)")?.code == .status(.outOfRange))
      let changes = await #expect(throws: RPCClientError.self) {
        try await bench.client.changes(ListChangesRequest(afterSequence: first))
      }
      #expect(changes?.code == .status(.outOfRange))

      var watch = try bench.client.watchCustomerStates(WatchCustomerStatesRequest())
        .makeAsyncIterator()
      _ = try await watch.next()
      #expect(await error(nil)?.code == .status(.resourceExhausted))
    }
  }

  @Test("An unread watch ends with its last cursor, and others continue")
  func slowReader() async throws {
    let limits = RPCLimits(
      writeBufferPause: 65_536, writeBuffer: 1_000_000, slowReaderTime: .seconds(3))
    try await ServiceBench.run(limits: limits) { bench async throws in
      // Each state contains all grants: several megabytes in all, more than a socket buffers.
      var last: Int64 = 0
      try await withThrowingTaskGroup(of: Int64.self) { group in
        for _ in 0..<300 { group.addTask { try await self.grant(bench, to: "anna") } }
        for try await revision in group { last = max(last, revision) }
      }
      let request = WatchCustomerStatesRequest(cursor: WatchCustomerStatesRequest.beginning)
      let unread = try UnreadStream(
        path: bench.socketPath, WireMethods.watchCustomerStates, request)
      // An active reader gets everything meanwhile.
      var cursor = ""
      for try await response in try bench.client.watchCustomerStates(request) {
        cursor = response.cursor
        if cursor.hasPrefix("\(last).") { break }
      }
      #expect(cursor.hasPrefix("\(last)."))
      func count(_ name: String) async throws -> Int64? {
        try await bench.client.statistics().counters.first { $0.name == name }?.value
      }
      while try await count("calls.RESOURCE_EXHAUSTED") != 1 {}

      var told = 0
      var lastTold = ""
      var status: RPCStatus?
      while status == nil {
        switch try unread.next() {
        case .success(let message):
          told += 1
          lastTold = try WatchCustomerStatesResponse.decode(from: message).cursor
        case .failure(let ended): status = ended
        }
      }
      #expect(told < 301)
      #expect(status?.code == .resourceExhausted)
      #expect(status?.errorInfo?.reason == "SLOW_READER")
      #expect(status?.errorInfo?.metadata == ["cursor": lastTold])
    }
  }

  @Test("A shutdown ends watches with UNAVAILABLE")
  func stopped() async throws {
    try await ServiceBench.run { bench async throws in
      let watches = try (0..<3).map { _ in
        try bench.client.watchCustomerStates(WatchCustomerStatesRequest())
      }
      var iterators = watches.map { $0.makeAsyncIterator() }
      for index in iterators.indices { _ = try await iterators[index].next() }
      async let stopped: Void = bench.server.shutDown()
      for index in iterators.indices {
        let error = await #expect(throws: CustomerWatchError.self) {
          while true { _ = try await iterators[index].next() }
        }
        #expect(error?.cause.code == .status(.unavailable))
      }
      await stopped
    }
  }

  @Test("Joining a change with an encoded state gives the same bytes as encoding both")
  func joined() throws {
    let state = Evaluation.state(
      of: CustomerRecord(scope: Self.scope, accountID: "anna", revision: 9),
      catalog: Catalog(), at: ServiceBench.now)
    var change = CustomerChange(
      sequence: 9, scope: Self.scope, subject: .account("anna"), committedAt: ServiceBench.now,
      kinds: [.facts, .linked])
    let plain = WatchCustomerStatesResponse(cursor: "9", change: change)
    let answer = try GetCustomerStateResponse.state(state).encoded()
    let joined = try plain.encoded(joining: answer)
    change.state = state
    let expected = WatchCustomerStatesResponse(cursor: "9", change: change)
    #expect(joined == (try expected.encoded()))
    #expect(
      try plain.encoded(joining: GetCustomerStateResponse.notModified(revision: 9).encoded()) == nil
    )
    #expect(try plain.encoded(joining: ByteBuffer(bytes: [0xFF, 0xFF])) == nil)
  }
}
