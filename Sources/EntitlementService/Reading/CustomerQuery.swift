package import EntitlementDomain
import EntitlementStore

/// A query for the state of one customer at a moment.
package struct CustomerQuery: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  package var consistency: Consistency
  /// The moment of the state; nil: now.
  package var at: Milliseconds?
  /// What the state of ``at`` is computed from.
  package var knowledge: Knowledge

  package init(
    selector: CustomerSelector, scope: AppScope, consistency: Consistency = .minimizeLatency,
    at: Milliseconds? = nil, knowledge: Knowledge = .signedByThen
  ) {
    self.selector = selector
    self.scope = scope
    self.consistency = consistency
    self.at = at
    self.knowledge = knowledge
  }

  /// The moment by which the facts of the state were signed; nil: all facts are used (R54).
  var signedBy: Milliseconds? { knowledge == .signedByThen ? at : nil }

  /// The key of the cached answer. Nil if the answer is neither cached nor shared: for a given
  /// moment, for FULLY_CONSISTENT, and for selectors that can resolve to another customer without a
  /// change of the former one.
  var cacheKey: AnswerKey? {
    at == nil && consistency != .fullyConsistent ? AnswerKey(selector: selector, scope: scope) : nil
  }
}

/// How fresh an answer must be.
package enum Consistency: Hashable, Sendable {
  /// From memory, if the answer is cached.
  case minimizeLatency
  /// At least as new as the write that returned this revision of the customer.
  case atLeastAsFresh(revision: Int64)
  /// From the store.
  case fullyConsistent
}

/// The key of a cached answer. A struct instead of the selector, because comparing enumerations
/// would copy their associated values.
struct AnswerKey: Hashable, Sendable {
  fileprivate enum Kind: UInt8 {
    case account, originalTransaction
  }

  fileprivate let kind: Kind
  fileprivate let id: String
  fileprivate let scope: AppScope
}

extension AnswerKey {
  /// Nil for a selector whose answers are not cached. Only answers by account and by original
  /// transaction are cached, because changes name accounts and chains.
  init?(selector: CustomerSelector, scope: AppScope) {
    switch selector {
    case .account(let id): self.init(kind: .account, id: id.rawValue, scope: scope)
    case .originalTransaction(let id):
      self.init(kind: .originalTransaction, id: id.rawValue, scope: scope)
    case .transaction, .appTransaction, .appAccountToken: return nil
    }
  }

  /// The key that names a subject itself.
  init(_ subject: CustomerSubject) {
    switch subject {
    case .account(let scope, let id):
      self.init(kind: .account, id: id.rawValue, scope: scope)
    case .unlinkedChain(let scope, let id):
      self.init(kind: .originalTransaction, id: id.rawValue, scope: scope)
    }
  }

  /// The subject that the key names.
  var named: CustomerSubject {
    switch kind {
    case .account: .account(scope, AccountID(id))
    case .originalTransaction: .unlinkedChain(scope, OriginalTransactionID(id))
    }
  }

  /// Compares byte by byte, as identifiers do.
  static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind
      && Identifier<Self>(left.id) == Identifier<Self>(right.id) && left.scope == right.scope
  }

  /// The scope is not hashed: an id is rarely used in several apps or environments.
  func hash(into hasher: inout Hasher) {
    var id = id
    id.withUTF8 { QueryBytes.combine(kind, UnsafeRawBufferPointer($0), into: &hasher) }
  }
}

/// A query whose strings are still in the bytes of a request. Finds the same answer as the
/// ``AnswerKey`` of the decoded query.
package struct QueryBytes {
  private let kind: AnswerKey.Kind
  private let id: UnsafeRawBufferPointer
  private let bundleID: UnsafeRawBufferPointer
  private let environment: StoreEnvironment

  /// A query for an account of an app. The bytes are UTF-8.
  package init(
    account id: UnsafeRawBufferPointer, bundleID: UnsafeRawBufferPointer,
    environment: StoreEnvironment
  ) {
    self.init(kind: .account, id: id, bundleID: bundleID, environment: environment)
  }

  /// A query for a chain of an app. The bytes are UTF-8.
  package init(
    originalTransaction id: UnsafeRawBufferPointer, bundleID: UnsafeRawBufferPointer,
    environment: StoreEnvironment
  ) {
    self.init(kind: .originalTransaction, id: id, bundleID: bundleID, environment: environment)
  }

  private init(
    kind: AnswerKey.Kind, id: UnsafeRawBufferPointer, bundleID: UnsafeRawBufferPointer,
    environment: StoreEnvironment
  ) {
    self.kind = kind
    self.id = id
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Equal to the hash of the ``AnswerKey``.
  var hash: Int {
    var hasher = Hasher()
    Self.combine(kind, id, into: &hasher)
    return hasher.finalize()
  }

  fileprivate static func combine(
    _ kind: AnswerKey.Kind, _ id: UnsafeRawBufferPointer, into hasher: inout Hasher
  ) {
    hasher.combine(kind.rawValue)
    hasher.combine(bytes: id)
  }

  func matches(_ key: AnswerKey) -> Bool {
    key.kind == kind && Identifier<Self>(key.id).hasBytes(id)
      && key.scope.environment == environment && key.scope.bundleID.hasBytes(bundleID)
  }
}
