/// A string that identifies one kind of thing. `Kind` is a phantom type that keeps similar
/// identifiers apart.
///
/// Identifiers are opaque. They compare byte by byte and are not parsed, unless a rule requires it.
public struct Identifier<Kind>: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The text of the identifier.
  public let rawValue: String

  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public var description: String { rawValue }

  // Swift strings compare by canonical equivalence; databases and callers compare bytes. Equal
  // bytes give equal hashes, so the synthesised hash of the string remains valid.
  @inlinable
  public static func == (left: Self, right: Self) -> Bool {
    IdentifierBytes.areEqual(left.rawValue, right.rawValue)
  }

  /// Whether `bytes` are the UTF-8 bytes of this identifier.
  @inlinable
  package func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    IdentifierBytes.areEqual(rawValue, bytes)
  }

  public static func < (left: Self, right: Self) -> Bool {
    IdentifierBytes.isLess(left.rawValue, right.rawValue)
  }

  /// Calls `body` with the UTF-8 bytes.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    IdentifierBytes.withBytes(of: rawValue, body)
  }
}

/// Compares identifiers of all kinds by their bytes. The functions are declared to read only: the
/// compiler then omits the retains and releases of the strings that it passes to them. They would take
/// more time than the comparison.
///
/// The compiler does not check that declaration. Such a function may only have borrowed parameters and a
/// result without references, and must change nothing that others can see: no cache, no counter, no log.
@usableFromInline
package enum IdentifierBytes {
  @inline(never)
  @_effects(readonly)
  @usableFromInline
  static func areEqual(_ left: String, _ right: String) -> Bool {
    withBytes(of: right) { areEqual(left, $0) }
  }

  @inline(never)
  @_effects(readonly)
  static func isLess(_ left: String, _ right: String) -> Bool {
    withBytes(of: left) { left in
      withBytes(of: right) { isLess(left, $0) }
    }
  }

  /// Whether `right` are the UTF-8 bytes of `left`.
  @inlinable
  package static func areEqual(_ left: String, _ right: UnsafeRawBufferPointer) -> Bool {
    withBytes(of: left) { areEqual($0, right) }
  }

  // Inlined, and by the storage that nearly all strings have: their spans are reached by a call.
  @inlinable
  @inline(__always)
  static func withBytes<Result>(
    of text: String, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    let result = text.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
    guard let result else { return text.utf8.span.withUnsafeBytes(body) }
    return result
  }

  // Eight bytes at a time, because comparing identifiers is the most frequent operation.
  @inlinable
  @inline(__always)
  package static func areEqual(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    guard left.count == right.count else { return false }
    var offset = 0
    if left.count >= 8 {
      // The last word may overlap the one before it.
      let last = left.count - 8
      while offset < last {
        if word(of: left, at: offset) != word(of: right, at: offset) { return false }
        offset += 8
      }
      return word(of: left, at: last) == word(of: right, at: last)
    }
    while offset < left.count {
      if left[offset] != right[offset] { return false }
      offset += 1
    }
    return true
  }

  /// The order of the first bytes that differ.
  private static func isLess(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    let common = min(left.count, right.count)
    var offset = 0
    while offset + 8 <= common {
      let (leftWord, rightWord) = (word(of: left, at: offset), word(of: right, at: offset))
      // The most significant byte is the first one.
      if leftWord != rightWord { return leftWord.bigEndian < rightWord.bigEndian }
      offset += 8
    }
    while offset < common {
      if left[offset] != right[offset] { return left[offset] < right[offset] }
      offset += 1
    }
    return left.count < right.count
  }

  @inlinable
  static func word(of bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
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
public enum OfferIdentifierKind {}

/// A customer, by the id that the caller chose; identified or anonymous.
public typealias AccountID = Identifier<AccountKind>
/// An app, by its `bundleId`.
public typealias BundleID = Identifier<BundleKind>
/// A chain: all transactions of one app and environment with the same `originalTransactionId`.
public typealias OriginalTransactionID = Identifier<ChainKind>
/// One purchase, renewal or refund of a chain, by its `transactionId`.
public typealias TransactionID = Identifier<TransactionKind>
/// One Apple account in one app. It is stable over refunds, redownloads and storefront changes.
public typealias AppTransactionID = Identifier<AppTransactionKind>
/// One period of a subscription, by its `webOrderLineItemId`.
public typealias WebOrderLineItemID = Identifier<WebOrderLineItemKind>
/// A product of the App Store, by its `productId`.
public typealias ProductID = Identifier<ProductKind>
/// A subscription group, by its `subscriptionGroupIdentifier`.
public typealias SubscriptionGroupID = Identifier<SubscriptionGroupKind>
/// An entitlement of the catalog, such as `pro`.
public typealias EntitlementID = Identifier<EntitlementKind>
/// The UUID that the app set at purchase, in lower case. A hint, not an identity (R43).
public typealias AppAccountToken = Identifier<AppAccountTokenKind>
/// An App Store Server Notification, by its `notificationUUID`.
public typealias NotificationUUID = Identifier<NotificationKind>
/// A grant of an operator: a UUID in lower case.
public typealias GrantID = Identifier<GrantKind>
/// A grandfathering rule, by its id in the catalog.
public typealias GrandfatheringRuleID = Identifier<GrandfatheringRuleKind>
/// A promotional offer, by its `offerIdentifier` in App Store Connect.
public typealias OfferID = Identifier<OfferIdentifierKind>

extension AppAccountToken {
  /// The UUID of zeros (RFC 9562, section 5.9), which Unity's purchasing package sends for an app that
  /// sets no token. Customers of such an app all have it, so it stands for no token (R43).
  package static let zeros = AppAccountToken("00000000-0000-0000-0000-000000000000")

  /// The token of a customer; nil for ``zeros``.
  package var ofCustomer: AppAccountToken? { self == .zeros ? nil : self }
}
