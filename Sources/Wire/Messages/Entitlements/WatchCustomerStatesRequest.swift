import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks for what changes, as it is committed.
public struct WatchCustomerStatesRequest: Hashable, WireMessage {
  /// The cursor of the last response that was handled; nil: from now on. See ``beginning``. At most
  /// ``MessageLimits/cursorLength`` bytes.
  public var cursor: String?
  /// Only this app; nil: all.
  public var bundleID: BundleID?
  /// Only this environment; nil: all.
  public var environment: StoreEnvironment?
  /// Only these accounts; empty: all customers, unclaimed chains and events of nobody included. At
  /// most ``MessageLimits/watchedAccounts``, none empty; they need app and environment.
  public var accountIDs: [AccountID]
  /// Only changes with at least one of these; empty: all.
  public var kinds: Set<ChangeKind>
  /// Leaves the states out.
  public var isWithoutStates: Bool

  public init(
    cursor: String? = nil, bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    accountIDs: [AccountID] = [], kinds: Set<ChangeKind> = [], isWithoutStates: Bool = false
  ) {
    self.cursor = cursor
    self.bundleID = bundleID
    self.environment = environment
    self.accountIDs = accountIDs
    self.kinds = kinds
    self.isWithoutStates = isWithoutStates
  }

  /// The cursor before the first change that is kept.
  public static let beginning = "0"

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension WatchCustomerStatesRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__watch_customer_states_request__init)

  init(reading message: Entitle__V1__WatchCustomerStatesRequest) throws(MessageError) {
    cursor = try Self.bounded(message.cursor, "cursor", limit: MessageLimits.cursorLength)
    bundleID = try Self.bounded(message.bundle_id, "bundle_id")
    environment = try Self.environment(message.environment)
    accountIDs = try Self.accounts(message.account_ids, count: message.n_account_ids)
    if !accountIDs.isEmpty {
      guard bundleID != nil else { throw Self.error(.missing(field: "bundle_id")) }
      guard environment != nil else { throw Self.error(.missing(field: "environment")) }
    }
    kinds = try Self.kinds(message.kinds, count: message.n_kinds)
    isWithoutStates = message.without_states != 0
  }

  func write(
    to message: inout Entitle__V1__WatchCustomerStatesRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.cursor = try Self.text(cursor, "cursor", in: arena)
    message.bundle_id = try Self.text(bundleID, "bundle_id", in: arena)
    if let environment { message.environment = environment.message }
    message.n_account_ids = accountIDs.count
    message.account_ids = try Self.texts(accountIDs.map(\.rawValue), "account_ids", in: arena)
    message.n_kinds = kinds.count
    message.kinds = try Self.list(kinds.inOrder, as: Entitle__V1__ChangeKind.self, in: arena)
    message.without_states = isWithoutStates ? 1 : 0
  }

  /// Here alone unspecified is not production: it is every one.
  private static func environment(
    _ message: Entitle__V1__StoreEnvironment
  ) throws(MessageError) -> StoreEnvironment? {
    if message == ENTITLE__V1__STORE_ENVIRONMENT__STORE_ENVIRONMENT_UNSPECIFIED { return nil }
    guard let environment = StoreEnvironment(message) else {
      throw error(.unknownValue(field: "environment"))
    }
    return environment
  }

  private static func accounts(
    _ field: UnsafeMutablePointer<CText?>?, count: Int
  ) throws(MessageError) -> [AccountID] {
    guard count <= MessageLimits.watchedAccounts else {
      throw error(.tooMany(field: "account_ids", limit: MessageLimits.watchedAccounts))
    }
    var accounts: [AccountID] = []
    for text in UnsafeBufferPointer(start: field, count: field == nil ? 0 : count) {
      accounts.append(try required(text, "account_ids"))
    }
    return accounts
  }

  private static func kinds(
    _ field: UnsafeMutablePointer<Entitle__V1__ChangeKind>?, count: Int
  ) throws(MessageError) -> Set<ChangeKind> {
    var kinds: Set<ChangeKind> = []
    for number in UnsafeBufferPointer(start: field, count: field == nil ? 0 : count) {
      guard let kind = known(number, of: ChangeKind.self) else {
        throw error(.unknownValue(field: "kinds"))
      }
      kinds.insert(kind)
    }
    return kinds
  }
}
