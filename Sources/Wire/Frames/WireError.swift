/// Why bytes or texts of the framing layer were not understood.
public struct WireError: Error, Hashable, Sendable {
  public enum Code: Hashable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// A varint has more than ten bytes.
    case overlongNumber
    /// A known field has another wire type than declared, or a group or field zero occurs.
    case wrongWireType
    /// A `string` field is not UTF-8.
    case notUTF8
    /// More metadata pairs than ``RPCLimits/maximumMetadataPairs``.
    case tooMuchMetadata
    /// A server address is not `host:port`, `[address]:port` or `unix:path`.
    case invalidAddress
  }

  public let code: Code
  /// What it was about, such as a field's name; never what a peer sent.
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
      "\(subject): not host:port, [address]:port or unix:path (at most "
        + "\(ServerAddress.maximumPathLength) bytes)"
    }
  }
}
