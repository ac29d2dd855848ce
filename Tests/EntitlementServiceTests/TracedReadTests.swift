import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import StoreConformance
import Synchronization
import TestSupport
import Testing
import Traces
import Tracing
import Workers

@Suite("Traced reads", .timeLimit(.minutes(1)))
struct TracedReadTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  /// Records for each read whether its task has the context of a call.
  private final class Probe: ForwardingStore {
    let base: any EntitlementStore
    private let contexts = Mutex<[Bool]>([])

    init(_ base: any EntitlementStore) { self.base = base }

    var all: [Bool] { contexts.withLock { $0 } }

    func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
      contexts.withLock { $0.append(CallTracer.isCurrent) }
      return await base.customers(lookups)
    }
  }

  private final class Caller: ReadWaiter {
    let source = WorkSource.server
    let isWaiting = true
    let eventLoop: (any EventLoop)? = nil
    let span: CallSpan?
    private let finished = Atomic(false)

    init(_ span: CallSpan?) { self.span = span }

    var isFinished: Bool { finished.load(ordering: .acquiring) }

    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      finished.store(true, ordering: .releasing)
    }
  }

  private let gate = GatedStore()
  private let probe: Probe
  private let reader: CustomerReader
  private let buffer = SpanBuffer()
  private let tracer: CallTracer

  init() {
    probe = Probe(gate)
    tracer = CallTracer(ratio: 0, buffer: buffer)
    let clock = MovableClock().clock
    reader = CustomerReader(
      store: TracedStore(probe, system: "sqlite"),
      catalog: CatalogHolder(
        Catalog(apps: [CatalogApp(bundleID: Self.scope.bundleID)]), clock: clock),
      clock: clock, cacheBytes: 1 << 20, limits: ReadLimits(permits: 1),
      encode: { EncodedState(ByteBuffer(string: "revision \($0.revision)")) })
  }

  private func read(_ id: AccountID, _ span: CallSpan?) throws -> Caller {
    let caller = Caller(span)
    let query = CustomerQuery(selector: .account(id), scope: Self.scope)
    func begin() throws { _ = try reader.answer(to: query, orFinish: { caller }) }
    // As the server runs the body of a traced call.
    if let span {
      try InstrumentationContext.$current.withValue(span.context) { try begin() }
    } else {
      try begin()
    }
    return caller
  }

  private func span() -> CallSpan {
    tracer.startCall("a.B/C", system: "ttrpc", in: .root(), age: 0)
  }

  @Test("Only traced calls have a span of the read, and no read has the context of a call")
  func contexts() async throws {
    gate.holdReads()
    let first = span()
    let second = span()
    // The first takes the only permit; its end begins the batch of the others.
    var callers = [try read("a", first)]
    await gate.readsBegun(1)
    callers += [
      try read("b", nil), try read("c", second), try read("c", span()), try read("a", nil),
    ]
    gate.letReadsGo()
    try await eventually { callers.allSatisfy(\.isFinished) }
    #expect(probe.all == [false, false])
    let spans = buffer.take()
    #expect(spans.map(\.name) == ["store.customers", "store.customers", "store.customers"])
    #expect(Set(spans.map(\.parent.traceID)).count == 3)
    // The batch of the others has two customers.
    #expect(
      spans.map { $0.attributes.get("db.operation.batch.size") } == [nil, .int64(2), .int64(2)])
    #expect(spans.allSatisfy { $0.attributes.get("db.system.name") == .string("sqlite") })
  }

  @Test("A failed read is one of its span")
  func failure() async throws {
    let span = span()
    let store = TracedStore(FaultyReads(base: gate), system: "sqlite")
    await InstrumentationContext.$current.withValue(span.context) {
      _ = await store.customers([CustomerLookup(.account("a"), in: Self.scope, .primary)])
      // What the server does for itself has no span.
      #expect((try? await store.feedEnd()) == 7)
      _ = try? await store.accounts(in: Self.scope, after: nil, limit: 1)
    }
    // Nothing is traced outside of a call.
    _ = try? await store.accounts(in: Self.scope, after: nil, limit: 1)
    let spans = buffer.take()
    #expect(spans.map(\.name) == ["store.customers", "store.accounts"])
    #expect(spans.allSatisfy { $0.attributes.get("error.type") == .string("unavailable") })
    #expect(spans.allSatisfy { $0.status?.code == .error })
  }

  @Test("In a shared batch, only the calls whose own lookups failed have a failed span")
  func sharedFailure() async throws {
    gate.fail(account: "b")
    var lookups = ["a", "b", "c"].map { CustomerLookup(.account($0), in: Self.scope, .primary) }
    let failing = span()
    let other = span()
    lookups[0].spans = [other]
    lookups[1].spans = [failing]
    lookups[2].spans = [failing, other]
    let store = TracedStore(gate, system: "sqlite")
    _ = await store.customers(lookups)
    let spans = buffer.take()
    #expect(spans.count == 2)
    #expect(spans.map { $0.attributes.get("error.type") } == [nil, .string("unavailable")])
    #expect(spans.map { $0.status?.code } == [nil, .error])
    // In the order of the calls.
    failing.end()
    #expect(buffer.take().map(\.parent.traceID) == [spans[1].parent.traceID])
  }

  private struct FaultyReads: ForwardingStore {
    let base: any EntitlementStore

    func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
      lookups.map { _ in .failure(StoreError(.unavailable, "gone")) }
    }

    func feedEnd() async throws(StoreError) -> Int64 { 7 }

    func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
      -> [AccountSummary]
    { throw StoreError(.unavailable, "gone") }
  }
}
