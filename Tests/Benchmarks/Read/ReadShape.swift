/// How GetCustomerState is called, and what is measured of it.
struct ReadShape {
  enum Quantity {
    /// Of the server, for each call.
    case processorTime
    /// Half of the calls take less.
    case medianLatency
  }

  let name: String
  let title: String
  let connections: Int
  /// On each connection.
  let inFlight: Int
  /// The most bytes of answers that the client takes at once.
  var readLength = FrameConnection.inputLength
  let quantity: Quantity
  /// What the quantity over the bare echo's must be at most; nil where there is no target.
  let target: Double?

  /// P1. With a dozen answers at a time, as they come to a client of small buffers, some calls are
  /// always on their way while others are answered.
  static let pipelined = ReadShape(
    name: "P1", title: "1 connection, 64 in flight: processor time of the server for each call",
    connections: 1, inFlight: 64, readLength: 4_096, quantity: .processorTime, target: 2.5)
  /// The same with a client that takes all answers at once. Then client and server wait for each
  /// other in turn, and 64 calls share each system call: what the service itself does is all that is
  /// left to see, beside an echo that does nothing.
  static let lockstep = ReadShape(
    name: "In lockstep",
    title: "1 connection, 64 calls, then 64 answers: processor time of the server for each call",
    connections: 1, inFlight: 64, quantity: .processorTime, target: nil)
  /// P2.
  static let single = ReadShape(
    name: "P2",
    title: "1 connection, 1 in flight, server and client on one processor: median latency",
    connections: 1, inFlight: 1, quantity: .medianLatency, target: 1.6)
  /// P3.
  static let connections = ReadShape(
    name: "P3",
    title: "64 connections, 1 in flight each: processor time of the server for each call",
    connections: 64, inFlight: 1, quantity: .processorTime, target: 1.6)
}
