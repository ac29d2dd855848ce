package import EntitlementDomain

/// The origin of an audited call, as the server knows it. Its name is the author of what it does.
package struct AuditCaller: Hashable, Sendable {
  /// The address of the peer, such as `192.0.2.7:41822`; `unix` for a Unix socket.
  package var peer: String
  /// The name of the authenticated caller.
  package var name: String
  package var proof: AuditProof
  /// The id of the token; empty for another proof.
  package var tokenID: String
  /// The 16 bytes of the id of the call's trace, if it is traced. Steps of links have it, entries of the
  /// trail do not.
  package var traceID: [UInt8]?

  package init(
    peer: String, name: String, proof: AuditProof = .none, tokenID: String = "",
    traceID: [UInt8]? = nil
  ) {
    self.peer = peer
    self.name = name
    self.proof = proof
    self.tokenID = tokenID
    self.traceID = traceID
  }

  /// The server itself: a signal, or a catalog file that changed.
  package static let server = AuditCaller(peer: "server", name: "server")
}

/// How a caller proved its name. Raw values are stored and hashed, so they keep their meaning.
package enum AuditProof: String, Hashable, Sendable, CaseIterable {
  /// Not at all: there is no access control, or the caller is the server itself.
  case none
  case token
  /// A client certificate of TLS.
  case certificate
  /// The user id of the peer of a Unix socket.
  case user
}

/// What an audited call did. Raw values are stored and hashed, so they keep their meaning.
package enum AuditOutcome: String, Hashable, Sendable {
  /// Something was changed, in the transaction that wrote the entry.
  case changed
  /// Data of a customer was read, or an offer was signed, to be sent after the entry was written.
  case disclosed
  /// A change was asked of the App Store after the entry was written. A second entry with the same
  /// subject says how that ended. Without one it is not known: the server was killed.
  case requested
  /// Nothing was changed: the App Store refused it, or was not asked.
  case refused
  /// How it ended is not known: the App Store may have made the change.
  case unknown
  /// Entries of the named chain were lost in a failover.
  case gap
}

/// A call to be audited (R76), before it has a place in a chain.
package struct AuditCall: Hashable, Sendable {
  /// The method of the protocol, such as `AddGrant`.
  package var method: String
  package var caller: AuditCaller
  /// Nil for a call about the server as a whole.
  package var scope: AppScope?
  /// The account of the call: it got, keeps or loses something. Nil when no account is concerned.
  package var account: AccountID?
  /// The account that lost something to ``account``: of a transfer or a merge.
  package var formerAccount: AccountID?
  /// The person or tool for whom the caller acts, in the caller's words; empty when none was named.
  package var onBehalfOf: String
  /// Free text of the caller; empty for a method without it.
  package var reason: String
  /// What was changed, by an id that is not Apple's: a grant, or the digest of a catalog.
  package var subject: String
  package var outcome: AuditOutcome
  package var at: Milliseconds
  /// Accounts whose pseudonyms are erased after the entry is written (R77).
  package var erased: Set<ScopedAccount>

  package init(
    method: String, caller: AuditCaller, scope: AppScope? = nil, account: AccountID? = nil,
    formerAccount: AccountID? = nil, onBehalfOf: String? = nil, reason: String = "",
    subject: String = "", outcome: AuditOutcome = .changed, at: Milliseconds,
    erased: Set<ScopedAccount> = []
  ) {
    self.method = method
    self.caller = caller
    self.scope = scope
    self.account = account
    self.formerAccount = formerAccount
    self.onBehalfOf = onBehalfOf ?? ""
    self.reason = reason
    self.subject = subject
    self.outcome = outcome
    self.at = at
    self.erased = erased
  }

  /// The accounts that the entry names by pseudonyms.
  package var accounts: [ScopedAccount] {
    guard let scope else { return [] }
    return [account, formerAccount].compactMap(\.self).map { ScopedAccount(scope, $0) }
  }
}

extension LinkRequest.Change {
  /// The method of the protocol that asks for the change.
  var method: String {
    switch self {
    case .link: "LinkAccount"
    case .unlink: "UnlinkAccount"
    case .transfer: "TransferPurchase"
    case .merge: "MergeAccounts"
    case .delete: "DeleteCustomer"
    case .bindToken: "BindAccountToken"
    }
  }
}
