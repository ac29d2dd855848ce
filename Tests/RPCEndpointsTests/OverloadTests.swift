import Dispatch
import EntitlementDomain
import EntitlementService
import NIOCore
import RPCClient
import Synchronization
import TestSupport
import Testing
import Wire

@testable import RPCEndpoints

@Suite("Reads beyond what can be answered")
struct OverloadTests {
  /// One read of the store at a time, and none that waits.
  private static var single: ReadLimits {
    var limits = ReadLimits(permits: 1)
    limits.waiting = 0
    return limits
  }

  /// Keeps the read of one account from its end, and so its permit.
  private final class Gate: Sendable {
    private let isReached = Mutex(false)
    private let semaphore = DispatchSemaphore(value: 0)

    func encode(_ state: CustomerState) throws(ServiceError) -> ByteBuffer {
      if state.accountID == "occupant", !isReached.withLock({ exchange(&$0, with: true) }) {
        _ = semaphore.wait(timeout: .now() + .seconds(20))
      }
      return try EntitlementEndpoint.encode(state)
    }

    func reached() async throws { try await eventually { isReached.withLock { $0 } } }

    func open() { semaphore.signal() }
  }

  @Test("What is not cached is refused with a hint when to come again; what is cached is answered")
  func overloaded() async throws {
    let gate = Gate()
    try await ServiceBench.run(
      reads: Self.single, encode: { state throws(ServiceError) in try gate.encode(state) }
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
      // Small and large batches alike.
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
      // The permit comes back soon after the answer.
      try await eventually { (try? await bench.state(of: .account("other"))) != nil }
    }
  }

  @Test("Callers of a customer that is being loaded take no permit, and get that answer")
  func joined() async throws {
    let gate = Gate()
    try await ServiceBench.run(
      reads: Self.single, encode: { state throws(ServiceError) in try gate.encode(state) }
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

  @Test("A read gives its permit back however it ends")
  func permitsComeBack() async throws {
    try await ServiceBench.run(reads: ReadLimits(permits: 1)) { bench async throws in
      for _ in 0..<3 {
        // No such app: an error.
        _ = try? await bench.client.customerState(
          GetCustomerStateRequest(
            customer: .account("anna"),
            scope: AppScope(bundleID: "com.example.other", environment: .production)))
        _ = try await bench.state(of: .transaction("1"))
      }
    }
  }
}
