import EntitlementDomain
import EntitlementStore

/// A change in the terms of whoever asks for it: what its parts are called in requests and counters,
/// and what a refusal means.
struct LinkChangeTerms {
  /// An account, and the field of the request that names it.
  private typealias Party = (account: AccountID, field: String)

  let kind: LinkChangeKind
  /// What is to change hands; nil where it is all that an account has.
  private let target: LinkTarget?
  /// The account that has it, where the request says that.
  private let giver: Party?
  /// The account that gets it; nil when none does.
  private let receiver: Party?

  init(_ change: LinkRequest.Change) {
    switch change {
    case .link(let target, let account):
      self.init(.linked, target, receiver: (account, "account_id"))
    case .unlink(let target):
      self.init(.unlinked, target)
    case .transfer(let target, let former, let account):
      self.init(
        .transferred, target, giver: former.map { ($0, "from_account_id") },
        receiver: (account, "to_account_id"))
    case .merge(let former, let account):
      self.init(
        .merged, giver: (former, "from_account_id"), receiver: (account, "into_account_id"))
    case .delete(let account):
      self.init(.deleted, giver: (account, "account_id"))
    }
  }

  private init(
    _ kind: LinkChangeKind, _ target: LinkTarget? = nil, giver: Party? = nil,
    receiver: Party? = nil
  ) {
    self.kind = kind
    self.target = target
    self.giver = giver
    self.receiver = receiver
  }

  /// All that the request names, each with its field.
  var identifiers: [(text: String, field: String)] {
    let parties = [giver, receiver].compactMap(\.self).map { ($0.account.rawValue, $0.field) }
    return parties + (target.map { [($0.identifier, "target")] } ?? [])
  }

  var namesOneAccountTwice: Bool { giver != nil && giver?.account == receiver?.account }

  /// Says nothing of whose it is: who asks may not be the owner.
  func error(for refusal: LinkRefusal) -> ServiceError {
    switch refusal {
    case .targetUnknown:
      ServiceError(.notFound, "nothing is known of this chain or app transaction")
    case .accountUnknown where target == nil:
      ServiceError(.notFound, "nothing is known of this account")
    case .linkedElsewhere where giver == nil:
      ServiceError(.alreadyExists, "it belongs to another account")
    case .accountUnknown, .linkedElsewhere:
      ServiceError(.failedPrecondition, "it does not belong to the account to take it from")
    case .sameAccount:
      ServiceError(
        .invalidArgument(field: receiver?.field ?? "account_id"), "the two accounts are one")
    }
  }
}

extension LinkTarget {
  fileprivate var identifier: String {
    switch self {
    case .chain(let id): id.rawValue
    case .appTransaction(let id): id.rawValue
    }
  }
}
