import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import RPCClient
@testable import RPCEndpoints
import ServiceSupport
import StoreConformance
import Synchronization
import Testing
import TestSupport
import Wire

@Suite("Load shedding of reads")
struct OverloadTests {
  /// One read of the store at a time, and no waiting reads.
  private static var single: ReadLimits {
    var limits = ReadLimits(permits: 1)
    limits.waiting = 0
    return limits
  }

  /// Suspends reads of one account, which keep their permit, until it is opened.
  private final class GatedStore: ForwardingStore {
    let base: any EntitlementStore
    private let gate: Gate

    init(_ base: any EntitlementStore, _ gate: Gate) {
      self.base = base
      self.gate = gate
    }

    func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
      if lookups.contains(where: { $0.selector == .account("occupant") }) { await gate.pass() }
      return await base.customers(lookups)
    }
  }

  private final class Gate: Sendable {
    private struct State {
      var isReached = false
      var isOpen = false
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          state.isReached = true
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    func reached() async throws { try await eventually { state.withLock { $0.isReached } } }

    func open() {
      let waiting = state.withLock { state in
        state.isOpen = true
        return exchange(&state.waiting, with: [])
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  @Test("Reads that miss the cache are refused with a retry delay; cached reads are answered")
  func overloaded() async throws {
    let gate = Gate()
    try await ServiceBench.run(
      reads: Self.single, readingStore: { GatedStore($0, gate) }
    ) { bench async throws in
      _ = try await bench.state(of: .account("cached"))
      async let occupant = bench.state(of: .account("occupant"))
      try await gate.reached()
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.state(of: .account("other"))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.errorInfo?.reason == "OVERLOADED")
      #expect(error?.retryDelay == .milliseconds(200))
      guard case .state = try await bench.state(of: .account("cached")) else {
        Issue.record("a cached answer was not given")
        return
      }
      // The same for small and large batches.
      for count in [2, 100] {
        let batch = await #expect(throws: RPCClientError.self) {
          try await bench.client.customerStates(
            BatchGetCustomerStateRequest(
              customers: (0..<count).map { .account(AccountID("batch-\($0)")) },
              scope: ServiceBench.scope))
        }
        #expect(batch?.errorInfo?.reason == "OVERLOADED")
      }
      gate.open()
      _ = try await occupant
      // The permit is released soon after the answer.
      try await eventually { (try? await bench.state(of: .account("other"))) != nil }
    }
  }

  @Test("Callers that join a load in flight take no permit, and get its answer")
  func joined() async throws {
    let gate = Gate()
    try await ServiceBench.run(
      reads: Self.single, readingStore: { GatedStore($0, gate) }
    ) { bench async throws in
      let client = bench.client
      let scope = ServiceBench.scope
      async let first = client.customerState(
        GetCustomerStateRequest(customer: .account("occupant"), scope: scope))
      try await gate.reached()
      async let second = client.customerState(
        GetCustomerStateRequest(customer: .account("occupant"), scope: scope))
      async let check = client.checkEntitlement(
        CheckEntitlementRequest(
          customer: .account("occupant"), scope: scope, entitlementID: "pro"))
      await #expect(throws: RPCClientError.self) {
        _ = try await client.customerState(
          GetCustomerStateRequest(customer: .account("other"), scope: scope))
      }
      try await eventually {
        try await client.statistics().counters.contains {
          $0.name == "cache.joined_loads" && $0.value == 2
        }
      }
      gate.open()
      #expect(try await first == second)
      #expect(try await !check.isGranted)
    }
  }

  @Test("A read releases its permit however it ends")
  func permitsComeBack() async throws {
    try await ServiceBench.run(reads: ReadLimits(permits: 1)) { bench async throws in
      for _ in 0..<3 {
        // An unknown app: an error.
        _ = try? await bench.client.customerState(
          GetCustomerStateRequest(
            customer: .account("anna"),
            scope: AppScope(bundleID: "com.example.other", environment: .production)))
        _ = try await bench.state(of: .transaction("1"))
      }
    }
  }
}
