import CEntitleMessages
package import NIOCore

/// What the server counted since its start, and its version.
package struct GetStatisticsResponse: Hashable, WireMessage {
  /// By name.
  package var counters: [StatisticsCounter]
  /// The server's; nil when the server does not send it.
  package var version: String?

  package init(counters: [StatisticsCounter], version: String? = nil) {
    self.counters = counters
    self.version = version
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetStatisticsResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_statistics_response__init)

  init(reading message: Entitle__V1__GetStatisticsResponse) throws(MessageError) {
    counters = try Self.list(
      message.counters, count: message.n_counters, of: StatisticsCounter.self)
    version = Self.optionalText(message.version)
  }

  func write(
    to message: inout Entitle__V1__GetStatisticsResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_counters = counters.count
    message.counters = try Self.list(counters, in: arena)
    message.version = try Self.text(version, "version", in: arena)
  }
}
