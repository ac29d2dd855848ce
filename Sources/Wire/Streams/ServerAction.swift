/// What the channel handler does about a frame.
package enum ServerAction: Sendable {
  case ignore
  /// Carry out the call; it stays in flight until it is answered or ended.
  case start(ServerCall)
  /// Send this failure; there is no call behind it.
  case respond(StreamID, RPCStatus)
  /// Tell the call that nobody waits for it any more, and send this failure.
  case end(CallID, RPCStatus)
  /// Send this failure, cancel all calls, then close: the bytes that follow make no sense.
  case fail(StreamID, RPCStatus)
}

/// What the channel handler does about something that a call has produced.
package enum AnswerAction: Hashable, Sendable {
  /// The call is no longer in flight, or something was asked that does not fit its kind.
  case ignore
  /// Send it.
  case send
  /// Send this failure in its place; the call is over.
  case sendFailure(RPCStatus)
}
