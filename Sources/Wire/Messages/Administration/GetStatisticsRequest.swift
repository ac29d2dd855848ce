import CEntitleMessages
package import NIOCore

/// Asks what the server counted since its start.
package struct GetStatisticsRequest: Hashable, WireMessage {
  package init() {}

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetStatisticsRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_statistics_request__init)

  init(reading message: Entitle__V1__GetStatisticsRequest) {}

  func write(to message: inout Entitle__V1__GetStatisticsRequest, in arena: MessageArena) {}
}
