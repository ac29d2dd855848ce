import Programs
import RPCClient
import Wire

/// Prints changes as they come, over as many connections as it takes, until its task is cancelled.
struct ChangeWatcher: Sendable {
  let server: ServerOptions
  /// Where the cursor of what was printed is kept; nil: nowhere.
  let cursorFile: CursorFile?

  /// Returns when its task is cancelled.
  ///
  /// - Throws: ``CommandFailure`` when the first connection cannot be made, or watching again would
  ///   fail again.
  func run(_ request: WatchCustomerStatesRequest) async throws {
    var request = request
    var backoff = Backoff()
    var hasWatched = false
    while true {
      let error: CustomerWatchError
      do {
        try await watch(request) { cursor in
          request.cursor = cursor
          hasWatched = true
          backoff.reset()
        }
        continue
      } catch let ended as CustomerWatchError {
        error = ended
      } catch let failure as RPCClientError {
        error = CustomerWatchError(cause: failure, cursor: request.cursor)
      } catch {
        // stdout, or the cursor's file.
        try? cursorFile?.finish()
        throw error
      }
      try cursorFile?.finish()
      if Task.isCancelled { return report("stopped", at: request.cursor) }
      guard hasWatched, error.isPassing else { throw Self.failure(error, at: request.cursor) }
      let delay = max(backoff.next(), error.cause.retryDelay ?? .zero)
      report("\(error); trying again in \(Self.seconds(delay)) s", at: request.cursor)
      // Cancelled: the next attempt is not made.
      try? await Task.sleep(for: delay)
      if Task.isCancelled { return report("stopped", at: request.cursor) }
    }
  }

  /// Watches over one connection.
  ///
  /// - Parameter handled: called with the cursor of each response that was printed, or had nothing
  ///   to print.
  /// - Throws: ``CustomerWatchError`` or ``RPCClientError``, always: a watch has no other end.
  private func watch(
    _ request: WatchCustomerStatesRequest, handled: (String) -> Void
  ) async throws {
    let client = try server.client()
    do {
      for try await response in try client.watchCustomerStates(request) {
        if response.change != nil {
          try StandardOutput.write(
            String(decoding: try response.jsonEncoded(), as: UTF8.self))
        } else {
          try StandardOutput.requireReader()
        }
        handled(response.cursor)
        try cursorFile?.keep(response.cursor)
      }
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }

  private func report(_ message: String, at cursor: String?) {
    StandardError.write(
      TerminalText.visible("entitlectl: \(message); the last cursor is \(cursor ?? "not known")"))
  }

  private static func failure(_ error: CustomerWatchError, at cursor: String?) -> CommandFailure {
    let failure = CommandFailure(error.cause)
    let place = cursor.map { "; the last cursor is \($0)" } ?? ""
    return CommandFailure(failure.reason, (failure.message ?? "") + place)
  }

  /// With one digit after the point.
  private static func seconds(_ duration: Duration) -> String {
    let tenths = Int64((duration / .milliseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
