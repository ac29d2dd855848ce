/// An address on which a server listens and to which a client connects.
public enum ServerAddress: Hashable, Sendable {
  /// A host name or IP address, without brackets. A server on port 0 listens on any free port.
  case tcp(host: String, port: UInt16)
  /// Like ``tcp(host:port:)``, with TLS 1.3.
  case tls(host: String, port: UInt16)
  /// Like ``tls(host:port:)``, with a certificate of the client too.
  case mutualTLS(host: String, port: UInt16)
  /// The path of a Unix domain socket.
  case unix(path: String)

  /// The longest path of a Unix socket, in bytes (`sun_path` without the terminating zero).
  public static let maximumPathLength = 107

  /// Parses `host:port`, `[::1]:port`, `tls:host:port`, `mtls:host:port` or `unix:path`.
  ///
  /// - Throws: ``WireError`` with `invalidAddress`.
  public init(parsing text: String) throws(WireError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard !path.isEmpty, path.utf8.count <= Self.maximumPathLength, !path.utf8.contains(0)
      else {
        throw WireError(.invalidAddress, "server address")
      }
      self = .unix(path: path)
      return
    }
    if text.hasPrefix("tls:") {
      let (host, port) = try Self.endpoint(text.dropFirst("tls:".count))
      self = .tls(host: host, port: port)
    } else if text.hasPrefix("mtls:") {
      let (host, port) = try Self.endpoint(text.dropFirst("mtls:".count))
      self = .mutualTLS(host: host, port: port)
    } else {
      let (host, port) = try Self.endpoint(text[...])
      self = .tcp(host: host, port: port)
    }
  }

  private static func endpoint(
    _ text: Substring
  ) throws(WireError) -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":") else {
      throw WireError(.invalidAddress, "server address")
    }
    let digits = text[text.index(after: colon)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(digits)
    else {
      throw WireError(.invalidAddress, "server address")
    }
    return (try Self.host(text[..<colon]), port)
  }

  private static func host(_ text: Substring) throws(WireError) -> String {
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    let host = isBracketed ? text.dropFirst().dropLast() : text
    // An IPv6 address needs brackets: without them the port would be ambiguous.
    guard !host.isEmpty, host.contains(":") == isBracketed,
      host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x5B && $0 != 0x5D && $0 != 0x2F })
    else {
      throw WireError(.invalidAddress, "server address")
    }
    return String(host)
  }

  /// Whether only this machine can reach the address. A host name other than `localhost` (RFC 6761,
  /// section 6.3) is not resolved and counts as reachable from other machines.
  public var isLoopback: Bool {
    switch self {
    case .unix:
      return true
    case .tcp(let host, _), .tls(let host, _), .mutualTLS(let host, _):
      if host == "::1" || host.lowercased() == "localhost" {
        return true
      }
      let parts = host.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
  }
}

extension ServerAddress {
  /// Whether calls to the address are encrypted.
  public var isEncrypted: Bool {
    switch self {
    case .tls, .mutualTLS: true
    case .tcp, .unix: false
    }
  }

  /// The same address with another port. A Unix socket has none and stays as it is.
  package func withPort(_ port: UInt16) -> ServerAddress {
    switch self {
    case .tcp(let host, _): .tcp(host: host, port: port)
    case .tls(let host, _): .tls(host: host, port: port)
    case .mutualTLS(let host, _): .mutualTLS(host: host, port: port)
    case .unix: self
    }
  }
}

extension ServerAddress: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tcp(let host, let port): Self.text(host, port)
    case .tls(let host, let port): "tls:" + Self.text(host, port)
    case .mutualTLS(let host, let port): "mtls:" + Self.text(host, port)
    case .unix(let path): "unix:\(path)"
    }
  }

  private static func text(_ host: String, _ port: UInt16) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
