import EntitlementDomain
import EntitlementService
import EntitlementStore
import Wire

// What the use cases answer, in the messages of the wire.

extension GrantResponse {
  init(_ receipt: GrantReceipt) {
    self.init(
      grant: receipt.grant, isChanged: receipt.isChanged, revision: receipt.customer.revision)
  }
}

extension CatalogResponse {
  init(
    _ snapshot: CatalogHolder.Snapshot, lastAttempt: EntitlementService.CatalogAttempt?
  ) {
    let size = snapshot.catalog.size
    self.init(
      digest: snapshot.digest, inForceSince: snapshot.inForceSince, appCount: size.apps,
      productCount: size.products, entitlementCount: size.entitlements,
      grandfatheringRuleCount: size.grandfatheringRules, warnings: snapshot.warnings,
      lastAttempt: lastAttempt.map { Wire.CatalogAttempt($0) })
  }
}

extension Wire.CatalogAttempt {
  init(_ attempt: EntitlementService.CatalogAttempt) {
    self.init(
      at: attempt.at, isValid: attempt.isValid, digest: attempt.digest, issues: attempt.issues,
      failure: attempt.failure)
  }
}

extension ChangeEntry {
  init(_ change: Change) {
    self.init(
      sequence: change.sequence, scope: change.scope,
      subject: change.subject.map { SubmittedCustomer.Subject($0) },
      committedAt: change.committedAt, hasFacts: change.kinds.contains(.facts),
      isLinked: change.kinds.contains(.linked), isUnlinked: change.kinds.contains(.unlinked),
      hasGrants: change.kinds.contains(.grants), events: change.events,
      isMerged: change.kinds.contains(.merged), isDeleted: change.kinds.contains(.deleted))
  }
}

extension SubmittedCustomer.Subject {
  init(_ subject: CustomerSubject) {
    switch subject {
    case .account(_, let id): self = .account(id)
    case .unlinkedChain(_, let id): self = .unlinkedChain(id)
    }
  }
}

extension CustomerSubject {
  var scope: AppScope {
    switch self {
    case .account(let scope, _), .unlinkedChain(let scope, _): scope
    }
  }
}
