import EntitlementDomain
import StoreSimulator
import Wire

/// Makes the random calls of one thread, determined by a seed. Used on the event loop of the
/// thread.
struct CallMaker {
  private let plan: CallPlan
  private let chooser: CustomerChooser
  private let signed: [CallKind: SignedCalls]
  private var generator: SeededGenerator

  private static let entitlements: [EntitlementID] = ["ad_free", "basic", "pro", "season"]

  init(_ plan: CallPlan, thread: Int) {
    self.plan = plan
    chooser = CustomerChooser(plan.choice, count: plan.customers.count)
    generator = SeededGenerator(seed: plan.seed, label: "calls", index: UInt64(thread))
    var signed: [CallKind: SignedCalls] = [:]
    if let authority = plan.authority {
      for kind in plan.mix.kinds where kind.isSigned {
        signed[kind] = SignedCalls(
          SignedCallMaker(kind, plan, signedBy: authority, thread: thread))
      }
    }
    self.signed = signed
  }

  /// The signed calls of every kind.
  var signedCalls: [SignedCalls] { Array(signed.values) }

  mutating func next() throws -> LoadCall {
    let kind = plan.mix.kind(&generator)
    switch kind {
    case .hot: return state(kind, of: chooser.index(&generator), .minimizeLatency)
    case .cold:
      return state(kind, of: generator.number(below: plan.customers.count), .fullyConsistent)
    case .absent: return absent()
    case .batch: return batch()
    case .check: return check()
    case .submit, .claim, .notify:
      guard let calls = signed[kind] else {
        preconditionFailure("signed calls without an authority are refused at the start")
      }
      return try calls.next()
    }
  }

  /// Chooses the kind of a call that is no longer made.
  mutating func skip() -> CallKind { plan.mix.kind(&generator) }

  private func state(
    _ kind: CallKind, of index: Int, _ consistency: ReadConsistency
  ) -> LoadCall {
    LoadCall(
      kind, WireMethods.getCustomerState,
      GetCustomerStateRequest(
        customer: .account(BulkCustomers.account(at: index)), scope: BulkCustomers.scope,
        consistency: consistency),
      expecting: .state(index), timeout: plan.timeout)
  }

  private mutating func absent() -> LoadCall {
    let account = AccountID("nobody-\(generator.next())")
    return LoadCall(
      .absent, WireMethods.getCustomerState,
      GetCustomerStateRequest(customer: .account(account), scope: BulkCustomers.scope),
      expecting: .unknownAccount(account), timeout: plan.timeout)
  }

  private mutating func batch() -> LoadCall {
    var indices: [Int] = []
    for _ in 0..<plan.batchSize { indices.append(chooser.index(&generator)) }
    return LoadCall(
      .batch, WireMethods.batchGetCustomerState,
      BatchGetCustomerStateRequest(
        customers: indices.map { .account(BulkCustomers.account(at: $0)) },
        scope: BulkCustomers.scope),
      expecting: .states(indices), timeout: plan.timeout)
  }

  private mutating func check() -> LoadCall {
    let index = chooser.index(&generator)
    let entitlement = Self.entitlements[generator.number(below: Self.entitlements.count)]
    return LoadCall(
      .check, WireMethods.checkEntitlement,
      CheckEntitlementRequest(
        customer: .account(BulkCustomers.account(at: index)), scope: BulkCustomers.scope,
        entitlementID: entitlement),
      expecting: .entitlement(entitlement, index), timeout: plan.timeout)
  }
}
