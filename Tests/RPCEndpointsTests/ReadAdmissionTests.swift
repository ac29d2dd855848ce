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
struct ReadAdmissionTests {
  /// A read that stays under way until it is ended.
  private final class Occupant: Sendable {
    private let ended = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ admission: ReadAdmission, customers: Int) {
      admission.admit(
        customers: customers,
        start: { ended in
          self.ended.withLock { $0 = ended }
          return true
        }, refuse: {})
    }

    var isUnderWay: Bool { ended.withLock { $0 != nil } }

    func end() { ended.withLock { exchange(&$0, with: nil) }?() }
  }

  private static func admission(places: Int) -> ReadAdmission {
    var limits = ReadAdmissionLimits(places: places)
    limits.waiting = 0
    return ReadAdmission(limits)
  }

  @Test("What is not held is turned away with a hint when to come again; what is held is answered")
  func overloaded() async throws {
    let admission = Self.admission(places: 1)
    try await ServiceBench.run(admission: admission) { bench async throws in
      _ = try await bench.state(of: .account("held"))
      let occupant = Occupant(admission, customers: 1)
      #expect(occupant.isUnderWay)
      let error = await #expect(throws: RPCClientError.self) {
        try await bench.state(of: .account("other"))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(error?.errorInfo?.reason == "OVERLOADED")
      #expect(error?.retryDelay == .milliseconds(200))
      guard case .state = try await bench.state(of: .account("held")) else {
        Issue.record("a held answer was not given")
        return
      }
      occupant.end()
      _ = try await bench.state(of: .account("other"))
    }
  }

  @Test("Who asks for a customer that is being loaded takes no place, and gets that answer")
  func joined() async throws {
    let gate = DispatchSemaphore(value: 0)
    let hasBegun = Mutex(false)
    try await ServiceBench.run(
      admission: Self.admission(places: 1),
      encode: { state throws(ServiceError) in
        if !hasBegun.withLock({ exchange(&$0, with: true) }) {
          _ = gate.wait(timeout: .now() + .seconds(20))
        }
        return try EntitlementEndpoint.encode(state)
      }
    ) { bench async throws in
      let client = bench.client
      let scope = ServiceBench.scope
      async let first = client.customerState(
        GetCustomerStateRequest(customer: .account("a"), scope: scope))
      try await eventually { hasBegun.withLock { $0 } }
      async let second = client.customerState(
        GetCustomerStateRequest(customer: .account("a"), scope: scope))
      async let check = client.checkEntitlement(
        CheckEntitlementRequest(customer: .account("a"), scope: scope, entitlementID: "pro"))
      await #expect(throws: RPCClientError.self) {
        _ = try await client.customerState(
          GetCustomerStateRequest(customer: .account("other"), scope: scope))
      }
      try await eventually {
        try await client.statistics().counters.contains {
          $0.name == "cache.joined_loads" && $0.value == 2
        }
      }
      gate.signal()
      #expect(try await first == second)
      #expect(try await !check.isGranted)
    }
  }

  @Test("A read gives its place back however it ends")
  func placesComeBack() async throws {
    try await ServiceBench.run(admission: Self.admission(places: 1)) { bench async throws in
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

  @Test(
    "A batch counts as a read for each 16 customers, and never as more than there is room for",
    arguments: [(1, 3), (16, 3), (17, 2), (48, 1), (49, 0), (1_000, 0)])
  func batches(customers: Int, others: Int) {
    let admission = Self.admission(places: 4)
    let batch = Occupant(admission, customers: customers)
    #expect(batch.isUnderWay)
    let beside = (0..<4).map { _ in Occupant(admission, customers: 1) }
    #expect(beside.count(where: \.isUnderWay) == others)
    batch.end()
  }

  @Test("However many have gone away while they waited, the next one begins")
  func unwanted() {
    var limits = ReadAdmissionLimits(places: 1)
    limits.waiting = 50_000
    // None of them is refused, however slow this machine is.
    limits.burstPatience = .hours(1)
    let admission = ReadAdmission(limits)
    let occupant = Occupant(admission, customers: 1)
    let gone = Atomic<Int>(0)
    for _ in 1..<limits.waiting {
      admission.admit(
        customers: 1,
        start: { _ in
          gone.add(1, ordering: .relaxed)
          return false
        }, refuse: { Issue.record("refused") })
    }
    let last = Occupant(admission, customers: 1)
    #expect(!last.isUnderWay)
    occupant.end()
    #expect(gone.load(ordering: .relaxed) == limits.waiting - 1)
    #expect(last.isUnderWay)
    last.end()
  }
}
