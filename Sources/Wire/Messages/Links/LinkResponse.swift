import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// What became of a change of who owns what. It is committed.
public struct LinkResponse: Hashable, WireMessage {
  /// False when it stood so before.
  public var isChanged: Bool
  /// What changed hands: chains before app transactions, then by id.
  public var targets: [LinkTarget]
  /// The accounts and unclaimed chains concerned, with their revisions after the call.
  public var customers: [SubmittedCustomer]

  public init(isChanged: Bool, targets: [LinkTarget], customers: [SubmittedCustomer]) {
    self.isChanged = isChanged
    self.targets = targets
    self.customers = customers
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension LinkResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__link_response__init)

  init(reading message: Entitle__V1__LinkResponse) throws(MessageError) {
    isChanged = message.changed != 0
    targets = try Self.list(
      message.targets, count: message.n_targets, of: LinkTarget.self, where: LinkTarget.isKnown)
    customers = try Self.list(
      message.customers, count: message.n_customers, of: SubmittedCustomer.self)
  }

  func write(
    to message: inout Entitle__V1__LinkResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.changed = isChanged ? 1 : 0
    message.n_targets = targets.count
    message.targets = try Self.list(targets, in: arena)
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
  }
}
