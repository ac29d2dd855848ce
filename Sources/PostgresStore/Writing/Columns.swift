import EntitlementDomain
import EntitlementStore

// Column-wise buffers of rows, in the form of a statement's parameters.

struct Columns2 {
  private var numbers: [Int64?] = []
  private var texts: [String?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] { [.int64s(numbers), .texts(texts)] }

  mutating func add(_ number: Int64, _ text: String) {
    numbers.append(number)
    texts.append(text)
  }
}

struct Columns3 {
  private var numbers: [Int64?] = []
  private var texts: [String?] = []
  private var others: [String?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] { [.int64s(numbers), .texts(texts), .texts(others)] }

  mutating func add(_ number: Int64, _ text: String, _ other: String) {
    numbers.append(number)
    texts.append(text)
    others.append(other)
  }
}

struct Columns4 {
  private var numbers: [Int64?] = []
  private var texts: [String?] = []
  private var otherNumbers: [Int64?] = []
  private var otherTexts: [String?] = []

  var count: Int { numbers.count }
  var values: [PostgresValue] {
    [.int64s(numbers), .texts(texts), .int64s(otherNumbers), .texts(otherTexts)]
  }

  mutating func add(_ number: Int64, _ text: String, _ otherNumber: Int64, _ otherText: String) {
    numbers.append(number)
    texts.append(text)
    otherNumbers.append(otherNumber)
    otherTexts.append(otherText)
  }
}

/// The columns of ``WriteStatements/addFacts`` and ``WriteStatements/writeFacts``.
struct FactColumns {
  struct Row {
    let write: FactWrite
    let scope: Int64
    let header: Int64?
    let signature: [UInt8]
    let document: PayloadDigest?
    /// As it is stored.
    let payload: [UInt8]
  }

  private var scopes: [Int64?] = []
  private var targets: [String?] = []
  private var kinds: [Int64?] = []
  private var identifiers: [String?] = []
  private var authorities: [Int64?] = []
  private var headers: [Int64?] = []
  private var signedDates: [Int64?] = []
  private var revoked: [Bool?] = []
  private var upgraded: [Bool?] = []
  private var appTransactions: [String?] = []
  private var tokens: [String?] = []
  private var previousChains: [String?] = []
  private var digests: [[UInt8]?] = []
  private var signatures: [[UInt8]?] = []
  private var documents: [[UInt8]?] = []
  private var payloads: [[UInt8]?] = []
  private var histories: [[UInt8]?] = []

  var count: Int { scopes.count }

  var values: [PostgresValue] {
    [
      .int64s(scopes), .texts(targets), .int64s(kinds), .texts(identifiers),
      .int64s(authorities), .int64s(headers), .int64s(signedDates), .bools(revoked),
      .bools(upgraded), .texts(appTransactions), .texts(tokens), .texts(previousChains),
      .byteStrings(digests), .byteStrings(signatures), .byteStrings(documents),
      .byteStrings(payloads), .byteStrings(histories),
    ]
  }

  mutating func add(_ row: Row) {
    let write = row.write
    let key = write.signed.fact.key
    let precedence = write.signed.fact.precedence
    scopes.append(row.scope)
    targets.append(write.target.stored)
    kinds.append(Int64(key.kind.rawValue))
    identifiers.append(key.identifier)
    authorities.append(Int64(precedence.authority.rawValue))
    headers.append(row.header)
    signedDates.append(precedence.signedDate.rawValue)
    revoked.append(precedence.isRevoked)
    upgraded.append(precedence.isUpgraded)
    appTransactions.append(write.hints.appTransactionID?.rawValue)
    tokens.append(write.hints.appAccountToken?.rawValue)
    previousChains.append(write.hints.previousChain?.rawValue)
    digests.append(precedence.digest.bytes)
    signatures.append(row.signature)
    documents.append(row.document?.bytes)
    payloads.append(row.payload)
    histories.append(write.history?.encoded)
  }
}
