import Logging

/// Receives and sends notifications on one channel (LISTEN and NOTIFY). It has a connection of its
/// own, which is reconnected after a loss.
final class PostgresListener: Sendable {
  private let handle: ListenerHandle
  private let mailbox: PoolMailbox

  init(channel: String, mailbox: PoolMailbox) {
    handle = ListenerHandle(channel: channel)
    self.mailbox = mailbox
    mailbox.post(.listenerAdded(handle))
  }

  deinit { mailbox.post(.listenerRemoved(handle)) }

  /// Yields for each notification, including those of this process, and for each new connection,
  /// because notifications may have been missed before it. Pending elements are coalesced. For a
  /// single consumer. Ends when the pool is closed.
  var announcements: AsyncStream<Void> { handle.stream }

  /// Sends a notification to all listeners of the channel. Pending notifications are coalesced.
  /// Without a connection the notification is dropped.
  func announce() { mailbox.post(.announcementWanted(handle)) }
}

/// A listener as seen by its owner and by the pool's thread.
final class ListenerHandle: Sendable {
  let channel: String
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(channel: String) {
    self.channel = channel
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The channel as a quoted SQL identifier.
  var quotedChannel: String {
    "\"\(channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  func yield() { continuation.yield() }

  func finish() { continuation.finish() }
}

/// The state of a listener on the pool's thread.
final class ListenerState {
  let handle: ListenerHandle
  var connection: PostgresConnection?
  /// Whether the server has confirmed LISTEN.
  var isListening = false
  var wantsAnnouncement = false
  var isAnnouncing = false
  /// When the server last sent something.
  var lastActivity = ContinuousClock.now
  var backoff: PostgresBackoff
  /// The earliest moment for the next attempt to connect.
  var retryAt: ContinuousClock.Instant?

  init(_ handle: ListenerHandle, _ limits: PostgresPoolLimits) {
    self.handle = handle
    backoff = PostgresBackoff(first: limits.firstBackoff, longest: limits.longestBackoff)
  }

  /// When the listener needs attention next; nil for never.
  func nextEvent(_ limits: PostgresPoolLimits) -> ContinuousClock.Instant? {
    guard let connection else { return retryAt }
    return connection.isIdle ? lastActivity + limits.keepaliveInterval : nil
  }
}

extension PoolLoop {
  /// Notifications are hints, so their commits need not wait for the disk.
  private static let asynchronousCommit = PostgresCommand(
    PostgresStatement("SET synchronous_commit TO off", name: "listener_loosen"))
  private static let keepalive = PostgresCommand(
    PostgresStatement("SELECT 1", name: "listener_check"))

  func listenerAdded(_ handle: ListenerHandle) {
    guard closing == nil else { return handle.finish() }
    listeners[ObjectIdentifier(handle)] = ListenerState(handle, limits)
  }

  func listenerRemoved(_ handle: ListenerHandle) {
    guard let state = listeners.removeValue(forKey: ObjectIdentifier(handle)) else { return }
    state.handle.finish()
    if let connection = state.connection { forget(connection) }
  }

  func announcementWanted(_ handle: ListenerHandle) {
    guard let state = listeners[ObjectIdentifier(handle)] else { return }
    state.wantsAnnouncement = true
    announce(state)
  }

  /// The role of the next listener to connect; nil for none.
  func listenerToConnect(at now: ContinuousClock.Instant) -> ConnectionRole? {
    for (identifier, state) in listeners {
      let role = ConnectionRole.listening(identifier)
      guard state.connection == nil, !connectAttempts.contains(where: { $0.role == role }) else {
        continue
      }
      if let retryAt = state.retryAt, retryAt > now { continue }
      state.retryAt = nil
      return role
    }
    return nil
  }

  func listenerConnected(_ identifier: ObjectIdentifier, _ connection: PostgresConnection) {
    guard let state = listeners[identifier], state.connection == nil else {
      return forget(connection)
    }
    state.connection = connection
    let listen = PostgresCommand(
      PostgresStatement("LISTEN \(state.handle.quotedChannel)", name: "listener_listen"))
    ask([Self.asynchronousCommit, listen], on: connection) { [weak self, weak state] in
      guard let self, let state else { return }
      state.isListening = true
      state.lastActivity = .now
      state.backoff.succeeded()
      // Notifications may have been missed while there was no connection.
      state.handle.yield()
      self.announce(state)
    }
  }

  func listenerDisconnected(_ identifier: ObjectIdentifier) {
    guard let state = listeners[identifier] else { return }
    state.connection = nil
    state.isListening = false
    state.isAnnouncing = false
    state.retryAt = .now + state.backoff.failed(using: &random)
  }

  func notified(_ connection: PostgresConnection) {
    guard case .listening(let identifier) = connection.role, let state = listeners[identifier]
    else { return }
    state.lastActivity = .now
    state.handle.yield()
  }

  /// Sends a keepalive query on listening connections that were idle for
  /// ``PostgresPoolLimits/keepaliveInterval``.
  func serveListeners(at now: ContinuousClock.Instant) {
    for state in listeners.values {
      guard let connection = state.connection, connection.isIdle, state.isListening,
        state.lastActivity + limits.keepaliveInterval <= now
      else { continue }
      ask([Self.keepalive], on: connection) { [weak state] in state?.lastActivity = .now }
    }
  }

  private func announce(_ state: ListenerState) {
    guard let connection = state.connection, state.isListening else {
      state.wantsAnnouncement = false
      return
    }
    guard state.wantsAnnouncement, !state.isAnnouncing else { return }
    state.wantsAnnouncement = false
    state.isAnnouncing = true
    let notify = PostgresCommand(
      PostgresStatement("NOTIFY \(state.handle.quotedChannel)", name: "listener_notify"))
    ask([notify], on: connection) { [weak self, weak state] in
      guard let self, let state else { return }
      state.isAnnouncing = false
      state.lastActivity = .now
      self.announce(state)
    }
  }

  /// Sends commands of the listener itself. The connection is closed when they fail.
  private func ask(
    _ commands: [PostgresCommand], on connection: PostgresConnection,
    _ answered: @escaping () -> Void
  ) {
    // These commands have no values, so they cannot be too large.
    guard let exchange = try? PostgresExchange(commands, within: limits.listenerTimeout) else {
      return
    }
    let pending = PendingExchange(exchange) { [weak connection, logger] result in
      switch result {
      case .success: answered()
      case .failure(let failure):
        logger.warning(
          "the listening connection failed", metadata: ["reason": "\(failure.message)"])
        connection?.isRetiring = true
      }
    }
    send(pending, on: connection)
  }
}
