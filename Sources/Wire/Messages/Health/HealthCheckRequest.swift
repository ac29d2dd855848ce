import CEntitleMessages
package import NIOCore

/// Asks how a service is doing.
public struct HealthCheckRequest: Hashable, WireMessage {
  /// Full name of a service; empty asks for the server as a whole.
  public var service: String

  public init(service: String = "") {
    self.service = service
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension HealthCheckRequest: MappedMessage {
  static let shape = MessageShape(grpc__health__v1__health_check_request__init)

  init(reading message: Grpc__Health__V1__HealthCheckRequest) {
    service = Self.text(message.service)
  }

  func write(
    to message: inout Grpc__Health__V1__HealthCheckRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.service = try Self.text(service, "service", in: arena)
  }
}
