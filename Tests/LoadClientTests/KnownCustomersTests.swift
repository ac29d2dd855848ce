import EntitlementDomain
import Testing
import Wire

@testable import LoadClient

@Suite("Expected states of simulated customers")
struct KnownCustomersTests {
  private let known: KnownCustomers
  private static let now = BulkCustomers.now.advanced(by: 1_000)
  private static let time = KnownCustomers.CallTime(
    sent: now, received: now.advanced(by: 20))

  init() throws {
    known = KnownCustomers(customers: try BulkCustomers(count: 100, seed: 5))
  }

  /// The answer of a correct server.
  private func answer(_ index: Int, at moment: Milliseconds = now) throws -> CustomerState {
    var record = try known.customers.record(at: index)
    record.revision = record.facts.isEmpty ? 0 : 77
    return Evaluation.state(of: record, catalog: known.customers.catalog, at: moment)
  }

  private func activeCustomer() throws -> Int {
    try #require(try (0..<100).first { try answer($0).entitlements.count == 1 })
  }

  @Test("every state equals the server's")
  func right() throws {
    for index in 0..<100 {
      #expect(known.fault(in: try answer(index), ofCustomer: index, at: Self.time) == nil)
    }
  }

  @Test("a missing entitlement is found and named")
  func missingEntitlement() throws {
    let index = try activeCustomer()
    var state = try answer(index)
    let name = try #require(state.entitlements.first).entitlementID
    state.entitlements = []
    let fault = known.fault(in: state, ofCustomer: index, at: Self.time)
    #expect(fault?.contains("entitlements [], expected [\(name)]") == true)
    #expect(fault?.contains("customer \(BulkCustomers.account(at: index)) ") == true)
  }

  @Test("a difference inside a part of the state is found")
  func innerDifference() throws {
    let index = try activeCustomer()
    var state = try answer(index)
    state.entitlements[0].sources[0].since = 1
    let fault = known.fault(in: state, ofCustomer: index, at: Self.time)
    #expect(fault?.hasSuffix("unexpected sources of entitlements") == true)
  }

  @Test("a customer that is unknown to the server is found")
  func unknown() throws {
    let index = try activeCustomer()
    let empty = CustomerRecord(
      scope: BulkCustomers.scope, accountID: BulkCustomers.account(at: index))
    let state = Evaluation.state(of: empty, catalog: known.customers.catalog, at: Self.now)
    #expect(
      known.fault(in: state, ofCustomer: index, at: Self.time)?
        .hasSuffix("is not known to the server") == true)
  }

  @Test("expired states and states of the future are found")
  func staleness() throws {
    let index = try #require(
      try (0..<100).first { try answer($0, at: Self.now).nextTransitionAt != nil })
    let state = try answer(index)
    let end = try #require(state.nextTransitionAt)
    let late = end.advanced(by: KnownCustomers.clockTolerance)
    func fault(at moment: Milliseconds) -> String? {
      known.fault(
        in: state, ofCustomer: index,
        at: KnownCustomers.CallTime(sent: moment, received: moment))
    }
    #expect(fault(at: late.advanced(by: -1)) == nil)
    #expect(fault(at: late)?.contains("out of date") == true)
    let early = Self.now.advanced(by: -KnownCustomers.clockTolerance)
    #expect(fault(at: early) == nil)
    #expect(fault(at: early.advanced(by: -1))?.contains("in the future") == true)
  }

  @Test("an unknown account is new, and has no facts")
  func unknownAccount() throws {
    let record = CustomerRecord(scope: BulkCustomers.scope, accountID: "nobody-1")
    var state = Evaluation.state(of: record, catalog: known.customers.catalog, at: Self.now)
    #expect(known.fault(in: state, ofUnknownAccount: "nobody-1", at: Self.time) == nil)
    #expect(known.fault(in: state, ofUnknownAccount: "nobody-2", at: Self.time) != nil)
    state.coreState = .active
    #expect(
      known.fault(in: state, ofUnknownAccount: "nobody-1", at: Self.time)?
        .contains("state active, expected new") == true)
  }

  @Test("a correct CheckEntitlement is accepted, a wrong one is found")
  func check() throws {
    let index = try activeCustomer()
    let state = try answer(index)
    let entitlement = try #require(state.entitlements.first)
    let answer = CheckEntitlementResponse(
      isGranted: true,
      until: entitlement.sources.contains { $0.until == nil }
        ? nil : entitlement.sources.compactMap(\.until).max(),
      nextTransitionAt: state.nextTransitionAt, revision: 77)
    func fault(_ answer: CheckEntitlementResponse) -> String? {
      known.fault(
        in: answer, about: entitlement.entitlementID, ofCustomer: index, at: Self.time)
    }
    #expect(fault(answer) == nil)
    var refused = answer
    refused.isGranted = false
    #expect(fault(refused)?.contains("not granted") == true)
    var unknown = answer
    unknown.revision = 0
    #expect(fault(unknown)?.contains("not known") == true)
  }
}
