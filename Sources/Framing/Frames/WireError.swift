/// An encoding error in bytes or text of the framing layer.
public struct WireError: Error, Hashable, Sendable {
  /// What was not understood.
  public enum Code: Hashable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// A varint is longer than ten bytes.
    case overlongNumber
    /// A known field has another wire type than declared, or a tag is invalid or begins a group.
    case wrongWireType
    /// A `string` field is not UTF-8.
    case notUTF8
    /// The request has more metadata pairs than `RPCLimits` allows.
    case tooMuchMetadata
    /// A server address is not `host:port`, `[address]:port` or `unix:path`.
    case invalidAddress
  }

  /// What was not understood.
  public let code: Code
  /// The message or field with the error. Never contains data from the peer.
  public let subject: String

  public init(_ code: Code, _ subject: String) {
    self.code = code
    self.subject = subject
  }
}

extension WireError: CustomStringConvertible {
  public var description: String {
    switch code {
    case .truncated: "\(subject): ends too early"
    case .overlongNumber: "\(subject): a number is too long"
    case .wrongWireType: "\(subject): wrong wire type"
    case .notUTF8: "\(subject): not UTF-8"
    case .tooMuchMetadata: "\(subject): more than \(RPCLimits.maximumMetadataPairs) pairs"
    case .invalidAddress:
      "\(subject): not host:port or [address]:port, with tls: or mtls: before it for TLS, or "
        + "unix:path (at most \(ServerAddress.maximumPathLength) bytes)"
    }
  }
}
