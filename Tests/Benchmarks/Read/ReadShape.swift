/// A load of GetCustomerState calls, and the measured quantity.
struct ReadShape {
  enum Quantity {
    /// Processor time of the server per call.
    case processorTime
    /// The median latency of the calls.
    case medianLatency
  }

  let name: String
  let title: String
  let connections: Int
  /// Calls in flight on each connection.
  let inFlight: Int
  /// The maximum length in bytes of one read of the client.
  var readLength = FrameConnection.inputLength
  let quantity: Quantity
  /// The maximum ratio of the quantity to that of the bare echo; nil without a target.
  let target: Double?
  /// The maximum ratio with a token to that without; nil without a target.
  var tokenTarget: Double?
  /// The maximum ratio with TLS to that without, on the same server; nil without a target.
  var encryptedTarget: Double?

  /// P1. The client has small buffers and reads about a dozen answers at a time, so calls are
  /// always in flight while others are answered.
  static let pipelined = ReadShape(
    name: "P1", title: "1 connection, 64 in flight: processor time of the server for each call",
    connections: 1, inFlight: 64, readLength: 4_096, quantity: .processorTime, target: 2.5,
    tokenTarget: 1.1, encryptedTarget: 1.5)
  /// The same with a client that reads all answers at once. Client and server then alternate, and
  /// 64 calls share each system call: only the work of the service itself remains, compared with an
  /// echo that does nothing.
  static let lockstep = ReadShape(
    name: "In lockstep",
    title: "1 connection, 64 calls, then 64 answers: processor time of the server for each call",
    connections: 1, inFlight: 64, quantity: .processorTime, target: nil)
  /// P2.
  static let single = ReadShape(
    name: "P2",
    title: "1 connection, 1 in flight, server and client on one processor: median latency",
    connections: 1, inFlight: 1, quantity: .medianLatency, target: 1.6,
    tokenTarget: 1.1, encryptedTarget: 1.3)
  /// P3.
  static let connections = ReadShape(
    name: "P3",
    title: "64 connections, 1 in flight each: processor time of the server for each call",
    connections: 64, inFlight: 1, quantity: .processorTime, target: 1.6, tokenTarget: 1.1,
    encryptedTarget: 1.6)
}
