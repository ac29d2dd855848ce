public import Wire

extension EntitlementClient {
  /// How long a watch may be silent before the server counts as gone. A server says at least twice
  /// in this time that it is still there, whether anything changed or not.
  public static let defaultWatchSilence = Duration.seconds(60)

  /// What changes, as it is committed, for as long as the connection lives. It starts at once; what
  /// fails shows when it is read.
  ///
  /// - Parameter silence: how long the server may say nothing; nil: for ever.
  /// - Throws: ``RPCClientError`` for a request that cannot be sent.
  public func watchCustomerStates(
    _ request: WatchCustomerStatesRequest, silence: Duration? = defaultWatchSilence
  ) throws(RPCClientError) -> CustomerWatchSequence {
    CustomerWatchSequence(
      messages: try stream(WireMethods.watchCustomerStates, request, silence: silence),
      cursor: request.cursor)
  }
}
