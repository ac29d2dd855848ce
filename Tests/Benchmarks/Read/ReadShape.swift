/// How GetCustomerState is called, and what is measured of it.
struct ReadShape {
  enum Quantity {
    /// Of the server, for each call.
    case processorTime
    /// Half of the calls take less.
    case medianLatency
  }

  let title: String
  let connections: Int
  /// On each connection.
  let inFlight: Int
  let quantity: Quantity
  /// What the quantity over the bare echo's must be at most.
  let target: Double

  /// P1.
  static let pipelined = ReadShape(
    title: "P1: 1 connection, 64 in flight: processor time of the server for each call",
    connections: 1, inFlight: 64, quantity: .processorTime, target: 2.5)
  /// P2.
  static let single = ReadShape(
    title: "P2: 1 connection, 1 in flight, server and client on one processor: median latency",
    connections: 1, inFlight: 1, quantity: .medianLatency, target: 1.6)
  /// P3.
  static let connections = ReadShape(
    title: "P3: 64 connections, 1 in flight each: processor time of the server for each call",
    connections: 64, inFlight: 1, quantity: .processorTime, target: 1.6)
}
