import Programs
import RPCClient
import Wire

/// Prints changes as they arrive, until its task is cancelled. Reconnects when a connection is
/// lost.
struct ChangeWatcher: Sendable {
  let server: ServerOptions
  /// The file for the cursor of the last printed change; nil: none.
  let cursorFile: CursorFile?

  /// Returns when its task is cancelled.
  ///
  /// - Throws: ``CommandFailure`` when the first connection cannot be made, or the error is not
  ///   transient.
  func run(_ request: WatchCustomerStatesRequest) async throws {
    var request = request
    var backoff = ReconnectBackoff()
    var hasWatched = false
    var wasRefused = false
    while true {
      let error: CustomerWatchError
      do {
        try await watch(request) { cursor in
          request.cursor = cursor
          hasWatched = true
          wasRefused = false
          backoff.reset()
        }
        continue
      } catch let ended as CustomerWatchError {
        error = ended
      } catch let failure as RPCClientError {
        error = CustomerWatchError(cause: failure, cursor: request.cursor)
      } catch {
        // Writing to stdout or to the cursor file failed.
        try? cursorFile?.finish()
        throw error
      }
      try cursorFile?.finish()
      if Task.isCancelled { return report("stopped", at: request.cursor) }
      // A token that has ended may have been renewed in its file meanwhile.
      let isRefused = error.cause.code == .status(.unauthenticated)
      guard hasWatched, error.isTransient || (isRefused && !wasRefused) else {
        throw Self.failure(error, at: request.cursor)
      }
      wasRefused = isRefused
      let delay = max(backoff.next(), error.cause.retryDelay ?? .zero)
      report("\(error); trying again in \(Self.seconds(delay)) s", at: request.cursor)
      // `sleep` throws only when the task is cancelled, which the next line checks.
      try? await Task.sleep(for: delay)
      if Task.isCancelled { return report("stopped", at: request.cursor) }
    }
  }

  /// Watches over one connection.
  ///
  /// - Parameter handled: called with the cursor of each response, after its change was printed if
  ///   it has one.
  /// - Throws: ``CustomerWatchError`` or ``RPCClientError``, always: a watch never ends without an
  ///   error.
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
        try cursorFile?.save(response.cursor)
      }
    } catch {
      await client.close()
      throw error
    }
    await client.close()
  }

  private func report(_ message: String, at cursor: String?) {
    StandardError.write(
      TerminalText.escaped("entitlectl: \(message); the last cursor is \(cursor ?? "not known")"))
  }

  private static func failure(_ error: CustomerWatchError, at cursor: String?) -> CommandFailure {
    let failure = CommandFailure(error.cause)
    let place = cursor.map { "; the last cursor is \($0)" } ?? ""
    return CommandFailure(failure.reason, (failure.message ?? "") + place)
  }

  /// In seconds, with one decimal.
  private static func seconds(_ duration: Duration) -> String {
    let tenths = Int64((duration / .milliseconds(100)).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// Exponential backoff with jitter: the delay doubles with each attempt up to a limit. The jitter
/// keeps clients from reconnecting at the same time.
struct ReconnectBackoff: Sendable {
  private static let shortest = Duration.milliseconds(500)
  /// Long enough to spare a server that is down for hours, short enough to reconnect soon after it
  /// is back.
  private static let longest = Duration.seconds(30)

  private var limit = shortest

  /// - Returns: a random delay between half of the current limit and the limit.
  mutating func next() -> Duration {
    var generator = SystemRandomNumberGenerator()
    return next(using: &generator)
  }

  mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    defer { limit = min(limit * 2, Self.longest) }
    return limit * Double.random(in: 0.5...1, using: &generator)
  }

  /// Starts again at the shortest delay. Call it after a success.
  mutating func reset() {
    limit = Self.shortest
  }
}
