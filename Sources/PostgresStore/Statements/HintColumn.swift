import EntitlementStore

/// A column of `facts` with a hint of one kind (R42), and an index by which the chains that carry one are
/// found.
enum HintColumn: String, CaseIterable, CustomStringConvertible {
  case token
  case appTransaction = "app_transaction"
  case previousChain = "previous_chain"

  var description: String { rawValue }

  /// - Returns: nil for a hint of another kind.
  func packed(_ hint: LinkHint) -> [UInt8]? {
    switch (self, hint) {
    case (.token, .token(let token)): token.packedBytes
    case (.appTransaction, .appTransaction(let id)): id.packedBytes
    case (.previousChain, .previousChain(let chain)): chain.packedBytes
    default: nil
    }
  }
}
