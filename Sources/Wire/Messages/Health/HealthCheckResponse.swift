import CEntitleMessages
package import NIOCore

/// How a service is doing, and the version of the server.
public struct HealthCheckResponse: Hashable, WireMessage {
  /// Raw values are those of the wire.
  public enum ServingStatus: Int, Hashable, Sendable, CaseIterable {
    /// Not said, or a status that this program does not know.
    case unknown = 0
    case serving = 1
    case notServing = 2
    /// In a watch only: no such service now.
    case serviceUnknown = 3
  }

  public var status: ServingStatus
  /// The server's; nil when the server does not send it.
  public var version: String?

  public init(status: ServingStatus, version: String? = nil) {
    self.status = status
    self.version = version
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension HealthCheckResponse: MappedMessage {
  static let shape = MessageShape(grpc__health__v1__health_check_response__init)

  init(reading message: Grpc__Health__V1__HealthCheckResponse) {
    status = Self.known(message.status, of: ServingStatus.self) ?? .unknown
    version = Self.optionalText(message.version)
  }

  func write(
    to message: inout Grpc__Health__V1__HealthCheckResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.status = Self.number(status)
    message.version = try Self.text(version, "version", in: arena)
  }
}
