import CEntitleMessages
import EntitlementDomain

extension LinkReason {
  /// Nil when it is unspecified, or one that only a newer server knows.
  init?(_ message: Entitle__V1__LinkReason) {
    switch message {
    case ENTITLE__V1__LINK_REASON__LINK_REASON_NAMED: self = .named
    case ENTITLE__V1__LINK_REASON__LINK_REASON_CLAIMED: self = .claimed
    case ENTITLE__V1__LINK_REASON__LINK_REASON_APP_ACCOUNT_TOKEN: self = .appAccountToken
    case ENTITLE__V1__LINK_REASON__LINK_REASON_APP_TRANSACTION: self = .appTransaction
    case ENTITLE__V1__LINK_REASON__LINK_REASON_PREVIOUS_CHAIN: self = .previousChain
    case ENTITLE__V1__LINK_REASON__LINK_REASON_IMPORTED: self = .imported
    case ENTITLE__V1__LINK_REASON__LINK_REASON_MERGED: self = .merged
    case ENTITLE__V1__LINK_REASON__LINK_REASON_ASSIGNED: self = .assigned
    case ENTITLE__V1__LINK_REASON__LINK_REASON_UNASSIGNED: self = .unassigned
    case ENTITLE__V1__LINK_REASON__LINK_REASON_TRANSFERRED: self = .transferred
    case ENTITLE__V1__LINK_REASON__LINK_REASON_DELETED: self = .deleted
    default: return nil
    }
  }

  var message: Entitle__V1__LinkReason {
    switch self {
    case .named: ENTITLE__V1__LINK_REASON__LINK_REASON_NAMED
    case .claimed: ENTITLE__V1__LINK_REASON__LINK_REASON_CLAIMED
    case .appAccountToken: ENTITLE__V1__LINK_REASON__LINK_REASON_APP_ACCOUNT_TOKEN
    case .appTransaction: ENTITLE__V1__LINK_REASON__LINK_REASON_APP_TRANSACTION
    case .previousChain: ENTITLE__V1__LINK_REASON__LINK_REASON_PREVIOUS_CHAIN
    case .imported: ENTITLE__V1__LINK_REASON__LINK_REASON_IMPORTED
    case .merged: ENTITLE__V1__LINK_REASON__LINK_REASON_MERGED
    case .assigned: ENTITLE__V1__LINK_REASON__LINK_REASON_ASSIGNED
    case .unassigned: ENTITLE__V1__LINK_REASON__LINK_REASON_UNASSIGNED
    case .transferred: ENTITLE__V1__LINK_REASON__LINK_REASON_TRANSFERRED
    case .deleted: ENTITLE__V1__LINK_REASON__LINK_REASON_DELETED
    }
  }
}
