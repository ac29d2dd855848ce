import EntitlementDomain
import EntitlementStore
import StoreConformance

/// A store that cannot write entries of the audit trail by themselves.
struct UnauditedStore: ForwardingStore {
  let base: any EntitlementStore

  func record(_ call: AuditCall) async throws(StoreError) {
    throw StoreError(.unavailable, "it was broken by the test")
  }
}
