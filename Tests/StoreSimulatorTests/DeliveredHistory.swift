import CatalogFiles
import EntitlementDomain
import StoreSimulator
import Verification

/// The facts of a server to which a simulated history is delivered. Payloads are really signed and
/// verified. There is no store: facts are merged by their precedence (R5).
struct DeliveredHistory {
  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  private static let authority = Result { try SigningAuthority.generate() }
  private static let catalogContents = Result {
    try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
  }
  private static let policy = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: SimulatedApp.bundleID, appAppleID: SimulatedApp.appAppleID,
      environments: [.production])
  ])

  private(set) var facts: [FactKey: Fact] = [:]
  private let authority: SigningAuthority
  private let verifier: JWSVerifier
  let catalog: Catalog

  init() throws {
    authority = try Self.authority.get()
    catalog = try Self.catalogContents.get()
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    verifier = JWSVerifier(anchors: anchors)
  }

  /// Signs and accepts an event's notification; nil when the event has none.
  mutating func deliverNotification(
    of event: StoreEvent
  ) throws -> (notification: VerifiedNotification, events: [FeedEvent])? {
    guard let jws = try authority.sign(event).notification else { return nil }
    let verified = try verifier.verify(
      Array(jws.utf8), as: .notification, policy: Self.policy, now: event.at)
    guard case .notification(let notification) = verified.content else { return nil }
    let inner = notification.facts.map(\.fact)
    merge(inner)
    let chains = Set(inner.compactMap(\.chain))
    let keys = Set(inner.map(\.key))
    let concerned = facts.values.filter { fact in
      fact.chain.map(chains.contains) ?? keys.contains(fact.key)
    }
    let events = NotificationReview.events(
      of: SignedNotification(
        record: notification.record, signed: verified.signed,
        consumptionRequestReason: notification.consumptionRequestReason),
      bringing: inner, facts: concerned, catalog: catalog)
    return (notification, events)
  }

  /// Accepts the facts that an event's notification does not carry.
  mutating func deliverRest(of event: StoreEvent) throws {
    for jws in try authority.sign(event).factsOutsideNotification {
      let verified = try verifier.verify(Array(jws.utf8), policy: Self.policy, now: event.at)
      switch verified.content {
      case .transaction(let fact): merge([.transaction(fact)])
      case .renewalInfo(let info):
        merge([.renewalInfo(info.bound(to: SimulatedApp.bundleID))])
      case .appTransaction(let fact): merge([.appTransaction(fact)])
      case .notification: break
      }
    }
  }

  func state(at moment: Milliseconds) -> CustomerState {
    Evaluation.state(
      of: CustomerRecord(scope: Self.scope, facts: Array(facts.values)), catalog: catalog,
      at: moment)
  }

  private mutating func merge(_ new: [Fact]) {
    for fact in new {
      if let known = facts[fact.key], known.precedence >= fact.precedence { continue }
      facts[fact.key] = fact
    }
  }
}
