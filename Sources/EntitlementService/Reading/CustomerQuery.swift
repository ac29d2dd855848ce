package import EntitlementDomain
import EntitlementStore

/// One question: which customer, as of when, and how fresh the answer must be.
package struct CustomerQuery: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  package var consistency: Consistency
  /// The moment asked about; nil: now.
  package var at: Milliseconds?

  package init(
    selector: CustomerSelector, scope: AppScope, consistency: Consistency = .minimizeLatency,
    at: Milliseconds? = nil
  ) {
    self.selector = selector
    self.scope = scope
    self.consistency = consistency
    self.at = at
  }

  /// Nil for what is neither cached nor shared: the past, FULLY_CONSISTENT, and selectors that may
  /// find another customer without a change of the one they found before.
  var cacheKey: AnswerKey? {
    at == nil && consistency != .fullyConsistent ? AnswerKey(selector: selector, scope: scope) : nil
  }
}

/// How fresh an answer must be.
package enum Consistency: Hashable, Sendable {
  /// From memory, where it is cached.
  case minimizeLatency
  /// As new as the write that returned this revision of the same customer.
  case atLeastAsFresh(revision: Int64)
  /// From the store.
  case fullyConsistent
}

/// What a cached answer is found by. Flat, not the selector itself: comparing enumerations would copy
/// what they carry.
struct AnswerKey: Hashable, Sendable {
  fileprivate enum Kind: UInt8 {
    case account, originalTransaction
  }

  fileprivate let kind: Kind
  fileprivate let id: String
  fileprivate let scope: AppScope
}

extension AnswerKey {
  /// Nil for a selector whose answers are not cached: only those by account and by original transaction
  /// are, as their changes are known by these names.
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

  /// Byte by byte, as identifiers are.
  static func == (left: Self, right: Self) -> Bool {
    left.kind == right.kind
      && Identifier<Self>(left.id) == Identifier<Self>(right.id) && left.scope == right.scope
  }

  /// The same id in several apps or environments is rare: equality tells those apart.
  func hash(into hasher: inout Hasher) {
    var id = id
    id.withUTF8 { QuestionBytes.combine(kind, UnsafeRawBufferPointer($0), into: &hasher) }
  }
}

/// A question whose texts lie in a request: what it finds is what its ``AnswerKey`` finds.
package struct QuestionBytes {
  private let kind: AnswerKey.Kind
  private let id: UnsafeRawBufferPointer
  private let bundleID: UnsafeRawBufferPointer
  private let environment: StoreEnvironment

  /// Asks for an account in an app. The bytes are those of texts in UTF-8.
  package init(
    account id: UnsafeRawBufferPointer, bundleID: UnsafeRawBufferPointer,
    environment: StoreEnvironment
  ) {
    self.init(kind: .account, id: id, bundleID: bundleID, environment: environment)
  }

  /// Asks for a chain in an app.
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

  /// That of the key.
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

  func isAsked(by key: AnswerKey) -> Bool {
    key.kind == kind && Identifier<Self>(key.id).hasBytes(id)
      && key.scope.environment == environment && key.scope.bundleID.hasBytes(bundleID)
  }
}
