import EntitlementDomain
import EntitlementStore
import FoundationEssentials
import GRDB
import PayloadCompression

extension Database {
  func run(_ statement: StoreStatement, _ arguments: StatementArguments) throws {
    try cachedStatement(sql: statement.rawValue).execute(arguments: arguments)
  }

  /// The first row, or nil.
  func row(_ statement: StoreStatement, _ arguments: StatementArguments) throws -> Row? {
    try Row.fetchOne(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  func rows(_ statement: StoreStatement, _ arguments: StatementArguments) throws -> [Row] {
    try Row.fetchAll(cachedStatement(sql: statement.rawValue), arguments: arguments)
  }

  /// Calls `body` with each row without copying it. A row is valid only during the call.
  func forEachRow(
    _ statement: StoreStatement, _ arguments: StatementArguments, _ body: (Row) throws -> Void
  ) throws {
    try Row.fetchCursor(cachedStatement(sql: statement.rawValue), arguments: arguments)
      .forEach(body)
  }
}

extension Row {
  /// A blob column as bytes; empty for NULL, which no blob column allows.
  func bytes(_ index: Int) throws -> [UInt8] {
    try withUnsafeData(atIndex: index) { data in data.map { [UInt8]($0) } ?? [] }
  }

  /// - Throws: ``StoreError/Code/corrupt`` unless the column has 16 bytes.
  func digest(_ index: Int) throws -> PayloadDigest {
    let bytes = try bytes(index)
    guard bytes.count == PayloadDigest.length else {
      throw StoreError(.corrupt, "a stored digest has \(bytes.count) bytes")
    }
    return PayloadDigest(bytes)
  }

  /// - Throws: ``StoreError/Code/corrupt`` when the environment is not known.
  func scope(bundleID: Int, environment: Int) throws -> AppScope {
    guard let environment = StoreEnvironment(rawValue: self[environment]) else {
      throw StoreError(.corrupt, "a stored environment is not known")
    }
    return AppScope(bundleID: identifier(bundleID), environment: environment)
  }

  func identifier<Kind>(_ index: Int) -> Identifier<Kind> {
    Identifier(self[index] as String)
  }

  func identifier<Kind>(_ index: Int) -> Identifier<Kind>? {
    (self[index] as String?).map { Identifier($0) }
  }

  /// A column of packed ids.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` unless it has the form of ``PackedIdentifier``.
  func packedIdentifier<Kind>(_ index: Int) throws -> Identifier<Kind> {
    Identifier(try packedText(index))
  }

  /// The same of a column that may be NULL.
  func packedIdentifier<Kind>(_ index: Int) throws -> Identifier<Kind>? {
    if hasNull(atIndex: index) { return nil }
    return Identifier(try packedText(index))
  }

  /// What a row of facts holds of its payload.
  ///
  /// - Parameter index: of the first of five columns: identifier, app transaction, token, previous chain,
  ///   moment of the signature.
  func rowTexts(_ index: Int) throws -> RowTexts {
    var texts = RowTexts()
    for column in index..<(index + 4) {
      try withUnsafeData(atIndex: column) { data in
        guard let data else { return try texts.append(packed: nil) }
        try data.withUnsafeBytes { try texts.append(packed: $0) }
      }
    }
    texts.append(Milliseconds(self[index + 4]))
    return texts
  }

  /// - Parameter index: of the first of three columns: app transaction, token, previous chain.
  func hints(_ index: Int) throws -> FactHints {
    FactHints(
      appTransactionID: try packedIdentifier(index),
      appAccountToken: try packedIdentifier(index + 1),
      previousChain: try packedIdentifier(index + 2))
  }

  /// - Parameters:
  ///   - kind: the index of the column of the kind.
  ///   - identifier: that of the identifier.
  /// - Throws: ``StoreError/Code/corrupt`` when one of them is of no known form.
  func factKey(kind: Int, identifier: Int) throws -> FactKey {
    FactKey(kind: try SQLiteStoredFact.kind(self, at: kind), identifier: try packedText(identifier))
  }

  func packedText(_ index: Int) throws(StoreError) -> String {
    try PackedIdentifier.text(of: [UInt8]((self[index] as Data?) ?? Data()))
  }
}

// SQLite receives text as a C string. A NUL would truncate it, and two different identifiers would
// become equal. Apple's identifiers contain no NUL, so such text is rejected.
extension String {
  var stored: DatabaseValue {
    get throws {
      guard !utf8.contains(0) else { throw Self.containsNUL }
      return databaseValue
    }
  }
}

extension Identifier {
  var stored: DatabaseValue {
    get throws { try rawValue.stored }
  }

  /// For a column of packed ids.
  var packed: DatabaseValue {
    get throws { try rawValue.packed }
  }
}

// A packed id could contain a NUL. It is rejected like in text, so that an id that one table takes is
// taken by all.
extension String {
  /// For a column of packed ids.
  var packed: DatabaseValue {
    get throws {
      guard !utf8.contains(0) else { throw Self.containsNUL }
      return PackedIdentifier.bytes(of: self).stored
    }
  }

  fileprivate static let containsNUL = StoreError(
    .internalFault, "an identifier contains a NUL character")
}

extension [UInt8] {
  var stored: DatabaseValue { Data(self).databaseValue }
}

extension PayloadDigest {
  var stored: DatabaseValue { bytes.stored }
}
