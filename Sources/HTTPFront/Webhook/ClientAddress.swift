import Glibc

/// An IP address. An IPv4 address that is written as an IPv6 one (`::ffff:192.0.2.1`) is the IPv4 address.
struct ClientAddress: Hashable, Sendable {
  /// 4 or 16, in network order.
  let bytes: [UInt8]

  /// Nil for what is no address. A port behind it is left out: `192.0.2.1:443`, `[2001:db8::1]:443`.
  init?(_ text: some StringProtocol) {
    let text = text.trimmingBlanks
    let host: String
    if text.first == "[", let end = text.firstIndex(of: "]") {
      host = String(text[..<end].dropFirst())
    } else if let colon = text.firstIndex(of: ":"),
      text[colon...].dropFirst().firstIndex(of: ":") == nil
    {
      host = String(text[..<colon])
    } else {
      host = String(text)
    }
    // The text of a C function ends at the first one.
    guard !host.utf8.contains(0) else { return nil }
    var (v4, v6) = (in_addr(), in6_addr())
    if inet_pton(AF_INET, host, &v4) == 1 {
      bytes = withUnsafeBytes(of: v4) { Array($0) }
    } else if inet_pton(AF_INET6, host, &v6) == 1 {
      let all = withUnsafeBytes(of: v6) { Array($0) }
      bytes = all.starts(with: Self.mapped) ? Array(all[Self.mapped.count...]) : all
    } else {
      return nil
    }
  }

  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

  /// What one client is likely to have all of: the address; of IPv6 its first half, the smallest network
  /// that a provider assigns.
  var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes.prefix(8)) }
}

/// Addresses with the same first bits, such as `192.0.2.0/24`; without a length, one address.
package struct AddressBlock: Hashable, Sendable, CustomStringConvertible {
  /// As it was given.
  package let description: String
  private let address: ClientAddress
  private let length: Int

  /// Nil for what is no block, and for one with bits behind its length.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard !text.contains("["), let address = ClientAddress(parts[0]),
      !parts[0].contains(":") || address.bytes.count == 16
    else { return nil }
    let width = 8 * address.bytes.count
    var length = width
    if parts.count == 2 {
      guard parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let number = Int(parts[1]), (0...width).contains(number)
      else { return nil }
      length = number
    }
    description = text
    self.address = address
    self.length = length
    guard address.bytes == Self.first(length, of: address.bytes) else { return nil }
  }

  func contains(_ other: ClientAddress) -> Bool {
    other.bytes.count == address.bytes.count
      && Self.first(length, of: other.bytes) == address.bytes
  }

  /// The bytes with all bits behind the first ones cleared.
  private static func first(_ length: Int, of bytes: [UInt8]) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(8, max(0, length - 8 * index))
      return kept == 0 ? 0 : byte & (0xFF << UInt8(8 - kept))
    }
  }
}

/// Proxies in front of a listener that say whose request they pass on.
struct TrustedProxies: Sendable {
  /// The field that each of them appends the address of its client to.
  static let field = "x-forwarded-for"

  let blocks: [AddressBlock]

  /// Who sent a request: the last address of the way that is no trusted proxy's. What is before it may be
  /// invented.
  ///
  /// - Parameters:
  ///   - peer: of the connection; nil if it is not known.
  ///   - fields: the values of ``field``, in the order of the request.
  func client(peer: ClientAddress?, forwarded fields: [String]) -> ClientAddress? {
    guard var client = peer, !blocks.isEmpty else { return peer }
    for text in fields.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) })
      .reversed()
    {
      guard blocks.contains(where: { $0.contains(client) }), let next = ClientAddress(text) else {
        break
      }
      client = next
    }
    return client
  }
}

extension StringProtocol {
  fileprivate var trimmingBlanks: SubSequence {
    let start = self[...].drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else {
      return start[start.startIndex..<start.startIndex]
    }
    return start[...last]
  }
}
