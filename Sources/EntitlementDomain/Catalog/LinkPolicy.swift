/// What becomes of a claim: a submission that names another account than the linked one (R44). Raw
/// values are those of the catalog file.
package enum LinkPolicy: String, Hashable, Sendable, CaseIterable {
  /// The claimer gets the chain, the former owner loses it.
  case transfer
  /// As ``transfer`` when the purchase is not in force now, else as ``keep``.
  case transferIfInactive = "transfer_if_inactive"
  /// The chain stays, and the claim is refused without a word about the owner.
  case keep
}
