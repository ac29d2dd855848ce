import CEntitleMessages

/// Something that the server counts.
package struct StatisticsCounter: Hashable, Sendable {
  /// Such as `notifications.unknown_type`.
  package var name: String
  /// Since the start of the server, or now for what goes up and down.
  package var value: Int64

  package init(name: String, value: Int64) {
    self.name = name
    self.value = value
  }
}

extension StatisticsCounter: MappedMessage {
  static let shape = MessageShape(entitle__v1__counter__init)

  init(reading message: Entitle__V1__Counter) {
    name = Self.text(message.name)
    value = message.value
  }

  func write(
    to message: inout Entitle__V1__Counter, in arena: MessageArena
  ) throws(MessageError) {
    message.name = try Self.text(name, "name", in: arena)
    message.value = value
  }
}
