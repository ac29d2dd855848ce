import EntitlementDomain
import EntitlementStore

// Columns as the domain has them. All throw `StoreError.Code.corrupt` where a column holds something
// else than it was written with.
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

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no 32 bytes.
  func digest(_ row: Int, _ column: Int) throws(StoreError) -> PayloadDigest {
    let bytes = try data(row, column)
    guard bytes.count == 32 else {
      throw StoreError(.corrupt, "a stored digest has \(bytes.count) bytes")
    }
    return PayloadDigest(bytes)
  }

  func optionalDigest(_ row: Int, _ column: Int) throws(StoreError) -> PayloadDigest? {
    try hasNull(row, column) ? nil : digest(row, column)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no kind.
  func factKind(_ row: Int, _ column: Int) throws(StoreError) -> FactKind {
    guard let kind = FactKind(rawValue: Int(try number(row, column))) else {
      throw StoreError(.corrupt, "a stored fact is of an unknown kind")
    }
    return kind
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the column holds no authority.
  func authority(_ row: Int, _ column: Int) throws(StoreError) -> FactAuthority {
    guard let authority = FactAuthority(rawValue: Int(try number(row, column))) else {
      throw StoreError(.corrupt, "a stored fact has an unknown authority")
    }
    return authority
  }

  /// - Parameter column: the first of the three.
  func hints(_ row: Int, _ column: Int) throws(StoreError) -> FactHints {
    FactHints(
      appTransactionID: try optionalIdentifier(row, column),
      appAccountToken: try optionalIdentifier(row, column + 1),
      previousChain: try optionalIdentifier(row, column + 2))
  }

  /// - Parameter column: the first of those that `ReadStatements` gives an event of a link.
  /// - Throws: ``StoreError/Code/corrupt`` when the reason is none of ours.
  func linkEvent(_ row: Int, _ column: Int) throws(StoreError) -> LinkEvent {
    LinkEvent(
      from: try optionalIdentifier(row, column), to: try optionalIdentifier(row, column + 1),
      isFromErased: try flag(row, column + 2), isToErased: try flag(row, column + 3),
      reason: try linkReason(string(row, column + 4)), author: try optionalString(row, column + 5),
      note: try optionalString(row, column + 6), at: try moment(row, column + 7))
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is none of ours.
  func linkReason(_ text: String) throws(StoreError) -> LinkReason {
    guard let reason = LinkReason(rawValue: text) else {
      throw StoreError(.corrupt, "a stored link event has an unknown reason")
    }
    return reason
  }
}
