import AppStorePayloads
import CatalogFiles
import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

/// Compares the handwritten expectations of the life cycles with the computed states, at every time
/// at which either may change, and one millisecond before and after it.
@Suite("The computed states are the ones that the life cycles expect")
struct EngineAgreementTests {
  @Test("At the boundaries of every interval", arguments: LifeCycle.allCases)
  func boundaries(lifeCycle: LifeCycle) throws {
    let catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
    for (seed, start) in TimelineTests.starts.enumerated() {
      let timeline = Timeline(lifeCycle, seed: UInt64(seed), start: start)
      let moments = Set(timeline.intervals.dropFirst().map(\.from) + timeline.events.map(\.at))
      for moment in moments.sorted().flatMap({ [$0.advanced(by: -1), $0, $0.advanced(by: 1)] }) {
        let state = Evaluation.state(
          of: try Self.record(of: timeline.history(until: moment)), catalog: catalog, at: moment)
        let told = Self.summary(of: state, asked: timeline.expectation(at: moment))
        #expect(
          told == timeline.expectation(at: moment),
          "\(lifeCycle.rawValue), seed \(seed), \(moment.rawValue - start.rawValue) ms after start")
      }
    }
  }

  /// The record that a store would return: the current version of every fact.
  static func record(of history: [StoreEvent]) throws -> CustomerRecord {
    var record = CustomerRecord(
      scope: AppScope(bundleID: SimulatedApp.bundleID, environment: .production))
    var standing: [FactKey: Fact] = [:]
    for event in history {
      let payloads: [(FactKind, [UInt8])] =
        event.transactions.map { (.transaction, $0.json) }
        + [event.renewalInfo].compactMap { $0.map { (.renewalInfo, $0.json) } }
        + [event.appTransaction].compactMap { $0.map { (.appTransaction, $0.json) } }
      for (kind, payload) in payloads {
        let fact = try PayloadDecoder.fact(
          kind: kind, payload: payload,
          digest: PayloadDigest(sha256: SHA256.digest(of: payload).words),
          bundleID: SimulatedApp.bundleID)
        if let known = standing[fact.key], known.precedence > fact.precedence { continue }
        standing[fact.key] = fact
      }
    }
    record.facts = standing.keys.sorted { $0.identifier < $1.identifier }.compactMap {
      standing[$0]
    }
    return record
  }

  /// The computed state as an ``ExpectedState``, for the same group or product.
  static func summary(of state: CustomerState, asked: ExpectedState) -> ExpectedState {
    let standing =
      if let group = asked.group {
        state.groups.first { $0.groupID == group }?.standing
      } else {
        state.products.first { $0.productID == asked.productID }?.standing
      }
    var told = ExpectedState(
      coreState: state.coreState, callToAction: state.callsToAction.first ?? .none,
      entitlements: state.entitlements.map(\.entitlementID))
    guard let standing else { return told }
    told.product = SimulatedApp.products.first { $0.id == standing.productID }
    told.status = standing.status
    told.expirationReason = standing.expirationReason
    told.callToAction = standing.callToAction
    told.willRenew = standing.willRenew
    told.pendingProductID = standing.pendingChange?.productID
    return told
  }
}
