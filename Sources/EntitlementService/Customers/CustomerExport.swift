package import EntitlementDomain
package import EntitlementStore

/// All that is known of an account, on one snapshot. It holds a place among the exports until it is
/// released.
package struct CustomerExport: Sendable {
  package let account: AccountExport
  package let scope: AppScope
  /// At the moment of the export.
  package let state: CustomerState
  private let place: ExportPlace

  init(_ account: AccountExport, in scope: AppScope, state: CustomerState, place: ExportPlace) {
    self.account = account
    self.scope = scope
    self.state = state
    self.place = place
  }
}
