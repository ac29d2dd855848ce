/// A string that names one kind of thing. `Kind` keeps look-alike identifiers apart; it has no
/// values.
///
/// Identifiers are opaque: they compare byte by byte and are never parsed, except where a rule
/// says so.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
  public let rawValue: String

  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public var description: String { rawValue }

  // Strings of Swift are equal when they look the same (canonical equivalence); databases and
  // callers compare bytes. Equal bytes give equal hashes, so hashing can stay the string's.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool {
    IdentifierBytes.areEqual(left.rawValue, right.rawValue)
  }

  /// Whether these are its bytes in UTF-8.
  @inlinable
  package func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    IdentifierBytes.areEqual(rawValue, bytes)
  }

  public static func < (left: Self, right: Self) -> Bool {
    left.withBytes { leftBytes in
      right.withBytes { leftBytes.lexicographicallyPrecedes($0) }
    }
  }

  /// The bytes in UTF-8.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    IdentifierBytes.withBytes(of: rawValue, body)
  }
}

/// Comparing by bytes, for identifiers of all kinds. Inlined where they are compared: a caller that sees
/// that nothing is written need not keep what it compares alive meanwhile.
@usableFromInline
enum IdentifierBytes {
  @inlinable
  static func areEqual(_ left: String, _ right: String) -> Bool {
    withBytes(of: right) { areEqual(left, $0) }
  }

  @inlinable
  static func areEqual(_ left: String, _ right: UnsafeRawBufferPointer) -> Bool {
    withBytes(of: left) { areEqual($0, right) }
  }

  @inlinable
  static func withBytes<Result>(
    of text: String, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    // Strings of Swift are contiguous; only one bridged from elsewhere would need the copy.
    let fast = text.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
    if let fast { return fast }
    return Array(text.utf8).withUnsafeBytes(body)
  }

  /// Eight bytes at a time: identifiers are compared more than anything else.
  @inlinable
  static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard left.count == right.count else { return false }
    var offset = 0
    while offset + 8 <= left.count {
      let leftWord = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      let rightWord = right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if leftWord != rightWord { return false }
      offset += 8
    }
    while offset < left.count {
      if left[offset] != right[offset] { return false }
      offset += 1
    }
    return true
  }
}

extension Identifier: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

public enum AccountKind {}
public enum BundleKind {}
public enum ChainKind {}
public enum TransactionKind {}
public enum AppTransactionKind {}
public enum WebOrderLineItemKind {}
public enum ProductKind {}
public enum SubscriptionGroupKind {}
public enum EntitlementKind {}
public enum AppAccountTokenKind {}
public enum NotificationKind {}
public enum GrantKind {}
public enum GrandfatheringRuleKind {}

/// The caller's own customer, identified or anonymous.
public typealias AccountID = Identifier<AccountKind>
/// An app, by its `bundleId`.
public typealias BundleID = Identifier<BundleKind>
/// A chain: all transactions of one app and environment that share it.
public typealias OriginalTransactionID = Identifier<ChainKind>
public typealias TransactionID = Identifier<TransactionKind>
/// One Apple account and app; stable over refunds, redownloads and storefront changes.
public typealias AppTransactionID = Identifier<AppTransactionKind>
public typealias WebOrderLineItemID = Identifier<WebOrderLineItemKind>
public typealias ProductID = Identifier<ProductKind>
public typealias SubscriptionGroupID = Identifier<SubscriptionGroupKind>
/// A named capability that the catalog confers, such as `pro`.
public typealias EntitlementID = Identifier<EntitlementKind>
/// The UUID that the app set at purchase, in lower case. A hint, not an identity (R43).
public typealias AppAccountToken = Identifier<AppAccountTokenKind>
public typealias NotificationUUID = Identifier<NotificationKind>
/// An operator's grant: a UUID in lower case.
public typealias GrantID = Identifier<GrantKind>
/// A grandfathering rule, by the id that the catalog gives it.
public typealias GrandfatheringRuleID = Identifier<GrandfatheringRuleKind>
