import CEntitleMessages
package import NIOCore

/// The answers about several customers, in the order of the request.
public struct BatchGetCustomerStateResponse: Hashable, WireMessage {
  public var results: [GetCustomerStateResponse]

  public init(results: [GetCustomerStateResponse]) {
    self.results = results
  }

  /// The message whose results are these, each an encoded ``GetCustomerStateResponse``: what
  /// encoding it anew would give, without decoding answers that are held in memory.
  package static func encoded(joining results: [ByteBuffer]) -> ByteBuffer {
    var buffer = ByteBuffer()
    // A tag of one byte, and a length of five at most.
    buffer.reserveCapacity(results.reduce(0) { $0 + $1.readableBytes + 6 })
    for result in results { buffer.writeField(resultsField, bytes: result) }
    return buffer
  }

  /// `results` in `Protos/`; a test compares.
  private static let resultsField: UInt32 = 1

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension BatchGetCustomerStateResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__batch_get_customer_state_response__init)

  init(reading message: Entitle__V1__BatchGetCustomerStateResponse) throws(MessageError) {
    results = try Self.list(
      message.results, count: message.n_results, of: GetCustomerStateResponse.self)
  }

  func write(
    to message: inout Entitle__V1__BatchGetCustomerStateResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.n_results = results.count
    message.results = try Self.list(results, in: arena)
  }
}
