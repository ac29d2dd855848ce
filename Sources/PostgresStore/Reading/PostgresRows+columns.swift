import EntitlementDomain
import EntitlementStore
import PayloadCompression

// Columns as types of the domain. All accessors throw `StoreError.Code.corrupt` when the value has
// another type or an unknown raw value.
extension PostgresRows {
  func number(_ row: Int, _ column: Int) throws(StoreError) -> Int64 {
    try Self.reading { () throws(PostgresFailure) in try int64(row, column) }
  }

  func optionalNumber(_ row: Int, _ column: Int) throws(StoreError) -> Int64? {
    try Self.reading { () throws(PostgresFailure) in try optionalInt64(row, column) }
  }

  func flag(_ row: Int, _ column: Int) throws(StoreError) -> Bool {
    try Self.reading { () throws(PostgresFailure) in try bool(row, column) }
  }

  func string(_ row: Int, _ column: Int) throws(StoreError) -> String {
    try Self.reading { () throws(PostgresFailure) in try text(row, column) }
  }

  func optionalString(_ row: Int, _ column: Int) throws(StoreError) -> String? {
    try Self.reading { () throws(PostgresFailure) in try optionalText(row, column) }
  }

  func data(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8] {
    try Self.reading { () throws(PostgresFailure) in try bytes(row, column) }
  }

  func optionalData(_ row: Int, _ column: Int) throws(StoreError) -> [UInt8]? {
    try Self.reading { () throws(PostgresFailure) in try optionalBytes(row, column) }
  }

  func hasNull(_ row: Int, _ column: Int) throws(StoreError) -> Bool {
    try Self.reading { () throws(PostgresFailure) in try isNull(row, column) }
  }

  private static func reading<Value>(
    _ read: () throws(PostgresFailure) -> Value
  ) throws(StoreError) -> Value {
    do throws(PostgresFailure) {
      return try read()
    } catch {
      throw StoreError(.corrupt, error.message)
    }
  }

  /// The bytes of a value, without a copy. They are valid as long as this object.
  private func storedBytes(_ row: Int, _ column: Int) throws(StoreError) -> UnsafeRawBufferPointer {
    try Self.reading { () throws(PostgresFailure) in
      guard let bytes = try unsafeBytes(row, column) else { throw Self.unexpectedNull }
      return bytes
    }
  }

  func moment(_ row: Int, _ column: Int) throws(StoreError) -> Milliseconds {
    Milliseconds(try number(row, column))
  }

  func optionalMoment(_ row: Int, _ column: Int) throws(StoreError) -> Milliseconds? {
    try optionalNumber(row, column).map { Milliseconds($0) }
  }

  func identifier<Kind>(_ row: Int, _ column: Int) throws(StoreError) -> Identifier<Kind> {
    Identifier(try string(row, column))
  }

  func optionalIdentifier<Kind>(_ row: Int, _ column: Int) throws(StoreError) -> Identifier<Kind>? {
    try optionalString(row, column).map { Identifier($0) }
  }

  /// The text of a packed id (``PackedIdentifier``).
  func unpacked(_ row: Int, _ column: Int) throws(StoreError) -> String {
    try withExtendedLifetime(self) { () throws(StoreError) in
      try PackedIdentifier.text(of: storedBytes(row, column))
    }
  }

  func packedIdentifier<Kind>(_ row: Int, _ column: Int) throws(StoreError) -> Identifier<Kind> {
    Identifier(try unpacked(row, column))
  }

  func optionalPackedIdentifier<Kind>(
    _ row: Int, _ column: Int
  ) throws(StoreError) -> Identifier<Kind>? {
    try hasNull(row, column) ? nil : packedIdentifier(row, column)
  }

  func linkTarget(_ row: Int, _ column: Int) throws(StoreError) -> LinkTarget {
    try LinkTarget(stored: data(row, column))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the value does not have 16 bytes.
  func digest(_ row: Int, _ column: Int) throws(StoreError) -> PayloadDigest {
    try withExtendedLifetime(self) { () throws(StoreError) in
      let bytes = try storedBytes(row, column)
      guard bytes.count == PayloadDigest.length else {
        throw StoreError(.corrupt, "a stored digest has \(bytes.count) bytes")
      }
      return PayloadDigest(bytes)
    }
  }

  func optionalDigest(_ row: Int, _ column: Int) throws(StoreError) -> PayloadDigest? {
    try hasNull(row, column) ? nil : digest(row, column)
  }

  /// - Throws: ``StoreError/Code/corrupt`` for an unknown kind.
  func factKind(_ row: Int, _ column: Int) throws(StoreError) -> FactKind {
    guard let kind = FactKind(rawValue: Int(try number(row, column))) else {
      throw StoreError(.corrupt, "a stored fact is of an unknown kind")
    }
    return kind
  }

  /// - Throws: ``StoreError/Code/corrupt`` for an unknown authority.
  func authority(_ row: Int, _ column: Int) throws(StoreError) -> FactAuthority {
    guard let authority = FactAuthority(rawValue: Int(try number(row, column))) else {
      throw StoreError(.corrupt, "a stored fact has an unknown authority")
    }
    return authority
  }

  func linkStanding(_ row: Int, _ column: Int) throws(StoreError) -> LinkStanding {
    guard let standing = LinkStanding(rawValue: Int(try number(row, column))) else {
      throw StoreError(.corrupt, "a stored link is of an unknown standing")
    }
    return standing
  }

  /// - Parameter column: the first of six columns: account, state, author, note,
  ///   moment, on behalf of.
  func tokenRow(_ row: Int, _ column: Int) throws(StoreError) -> TokenRow {
    guard let state = AccountTokenState(rawValue: Int(try number(row, column + 1))) else {
      throw StoreError(.corrupt, "a stored token is in an unknown state")
    }
    return TokenRow(
      account: try optionalIdentifier(row, column), state: state,
      author: try optionalString(row, column + 2),
      onBehalfOf: try optionalString(row, column + 5), note: try optionalString(row, column + 3),
      since: try moment(row, column + 4))
  }

  /// The rows of a statement that returns tokens.
  func knownTokens() throws(StoreError) -> [KnownToken] {
    try map { rows, row throws(StoreError) in
      KnownToken(try rows.packedIdentifier(row, 0), try rows.tokenRow(row, 1))
    }
  }

  /// - Parameter column: the first of three columns: app transaction, token, previous chain.
  func hints(_ row: Int, _ column: Int) throws(StoreError) -> FactHints {
    FactHints(
      appTransactionID: try optionalPackedIdentifier(row, column),
      appAccountToken: try optionalPackedIdentifier(row, column + 1),
      previousChain: try optionalPackedIdentifier(row, column + 2))
  }

  /// - Parameter column: the first of the columns of ``Targets/rowTexts(of:)``.
  func rowTexts(_ row: Int, _ column: Int) throws(StoreError) -> RowTexts {
    try rowTexts(row, column, signedDate: column + 4)
  }

  /// - Parameters:
  ///   - column: the first of four columns: packed id of the fact, app transaction, token, previous chain.
  ///   - signedDate: the column of the moment of the signature.
  func rowTexts(
    _ row: Int, _ column: Int, signedDate: Int
  ) throws(StoreError) -> RowTexts {
    var texts = RowTexts()
    try withExtendedLifetime(self) { () throws(StoreError) in
      try texts.append(packed: storedBytes(row, column))
      for hint in (column + 1)..<(column + 4) {
        let bytes = try Self.reading { () throws(PostgresFailure) in try unsafeBytes(row, hint) }
        try texts.append(packed: bytes)
      }
    }
    texts.append(try moment(row, signedDate))
    return texts
  }

  /// - Parameter column: the first of the event columns in `ReadStatements`.
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown reason.
  func linkEvent(_ row: Int, _ column: Int) throws(StoreError) -> LinkEvent {
    LinkEvent(
      from: try optionalIdentifier(row, column), to: try optionalIdentifier(row, column + 1),
      isFromErased: try flag(row, column + 2), isToErased: try flag(row, column + 3),
      reason: try linkReason(string(row, column + 4)),
      author: try linkAuthor(row, column + 5), traceID: try optionalData(row, column + 9),
      onBehalfOf: try optionalString(row, column + 8), note: try optionalString(row, column + 6),
      at: try moment(row, column + 7))
  }

  /// - Throws: ``StoreError/Code/corrupt`` for one of an unknown form.
  func linkAuthor(_ row: Int, _ column: Int) throws(StoreError) -> LinkAuthor? {
    guard let bytes = try optionalData(row, column) else { return nil }
    return try LinkAuthor(encoded: bytes)
  }

  /// - Throws: ``StoreError/Code/corrupt`` for an unknown reason.
  func linkReason(_ text: String) throws(StoreError) -> LinkReason {
    guard let reason = LinkReason(rawValue: text) else {
      throw StoreError(.corrupt, "a stored link event has an unknown reason")
    }
    return reason
  }
}

/// The column indexes of a grant in a row. The account is read separately.
struct GrantColumns {
  let id, entitlement, starts, expires, reason, author, createdAt: Int
  /// All three are NULL until the grant is withdrawn.
  let withdrawnAt, withdrawnBy, withdrawalReason: Int
  let onBehalfOf, withdrawnOnBehalfOf: Int

  /// - Parameter account: the column of the account. The others follow in the order of
  ///   ``LoadStatements/grantColumns(_:)``.
  static func following(account: Int) -> GrantColumns {
    GrantColumns(
      id: account + 1, entitlement: account + 2, starts: account + 3, expires: account + 4,
      reason: account + 5, author: account + 6, createdAt: account + 7,
      withdrawnAt: account + 8, withdrawnBy: account + 9, withdrawalReason: account + 10,
      onBehalfOf: account + 11, withdrawnOnBehalfOf: account + 12)
  }

  /// The columns of a ``CustomerRowKind/grant`` row.
  static let ofCustomer = GrantColumns(
    id: 5, entitlement: 6, starts: 1, expires: 2, reason: 7, author: 8, createdAt: 3,
    withdrawnAt: 4, withdrawnBy: 9, withdrawalReason: 10, onBehalfOf: 11, withdrawnOnBehalfOf: 12)
}

extension PostgresRows {
  /// - Parameter column: the first of ``LoadStatements/grantColumns(_:)``.
  /// - Throws: ``StoreError/Code/corrupt``.
  func grant(_ row: Int, _ column: Int, scope: AppScope) throws(StoreError) -> Grant {
    try grant(row, .following(account: column), of: identifier(row, column), in: scope)
  }

  /// - Throws: ``StoreError/Code/corrupt``.
  func grant(
    _ row: Int, _ columns: GrantColumns, of account: AccountID, in scope: AppScope
  ) throws(StoreError) -> Grant {
    var grant = Grant(
      id: try identifier(row, columns.id), scope: scope, accountID: account,
      entitlementID: try identifier(row, columns.entitlement),
      starts: try moment(row, columns.starts), expires: try optionalMoment(row, columns.expires),
      reason: try string(row, columns.reason), author: try string(row, columns.author),
      onBehalfOf: try optionalString(row, columns.onBehalfOf),
      createdAt: try moment(row, columns.createdAt))
    // A check constraint of the table requires all three or none.
    if let at = try optionalMoment(row, columns.withdrawnAt),
      let author = try optionalString(row, columns.withdrawnBy),
      let reason = try optionalString(row, columns.withdrawalReason)
    {
      grant.withdrawal = GrantWithdrawal(
        at: at, author: author, onBehalfOf: try optionalString(row, columns.withdrawnOnBehalfOf),
        reason: reason)
    }
    return grant
  }
}
