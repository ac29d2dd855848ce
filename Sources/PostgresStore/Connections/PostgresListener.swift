import Logging

/// Hears announcements on a channel, and makes them. It has a connection of its own, which is made
/// again whenever it is lost.
final class PostgresListener: Sendable {
  private let handle: ListenerHandle
  private let mailbox: PoolMailbox

  init(channel: String, mailbox: PoolMailbox) {
    handle = ListenerHandle(channel: channel)
    self.mailbox = mailbox
    mailbox.post(.listenerAdded(handle))
  }

  deinit { mailbox.post(.listenerRemoved(handle)) }

  /// An element for every announcement, this process's own too, and for every time that the
  /// connection was made, as some may have been missed before. Several become one while nobody
  /// looks. For one reader. It ends with the pool.
  var announcements: AsyncStream<Void> { handle.stream }

  /// Tells all listeners of the channel, soon. Several calls may become one announcement. It is
  /// dropped without a word while there is no connection.
  func announce() { mailbox.post(.announcementWanted(handle)) }
}

/// A listener, as its owner and the pool's thread know it.
final class ListenerHandle: Sendable {
  let channel: String
  let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init(channel: String) {
    self.channel = channel
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// The channel as SQL wants it: letter by letter, with its quotes doubled.
  var quotedChannel: String {
    "\"\(channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  func heard() { continuation.yield() }

  func finish() { continuation.finish() }
}

/// A listener on the pool's thread.
final class ListenerState {
  let handle: ListenerHandle
  var connection: PostgresConnection?
  /// Whether the server has confirmed that it will notify.
  var isListening = false
  var wantsAnnouncement = false
  var isAnnouncing = false
  /// When the server last gave a sign of life.
  var lastHeard = ContinuousClock.now
  var backoff: PostgresBackoff
  /// Not to be connected before this.
  var retryAt: ContinuousClock.Instant?

  init(_ handle: ListenerHandle, _ limits: PostgresPoolLimits) {
    self.handle = handle
    backoff = PostgresBackoff(first: limits.firstBackoff, longest: limits.longestBackoff)
  }

  /// When something is to be done if nothing comes; nil: nothing.
  func nextEvent(_ limits: PostgresPoolLimits) -> ContinuousClock.Instant? {
    guard let connection else { return retryAt }
    return connection.isIdle ? lastHeard + limits.keepaliveInterval : nil
  }
}

extension PoolLoop {
  /// Announcements are hints, so their commits need not wait for the disk.
  private static let loosen = PostgresCommand(
    PostgresStatement("SET synchronous_commit TO off", name: "listener_loosen"))
  private static let check = PostgresCommand(
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

  /// The listener that is next to be connected, if any.
  func listenerToConnect(at now: ContinuousClock.Instant) -> ConnectionRole? {
    for (identifier, state) in listeners {
      let role = ConnectionRole.listening(identifier)
      guard state.connection == nil, !tickets.contains(where: { $0.role == role }) else { continue }
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
    ask([Self.loosen, listen], on: connection) { [weak self, weak state] in
      guard let self, let state else { return }
      state.isListening = true
      state.lastHeard = .now
      state.backoff.succeeded()
      // What was announced while there was no connection was missed.
      state.handle.heard()
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
    state.lastHeard = .now
    state.handle.heard()
  }

  /// Asks those who have been silent for long whether they live.
  func serveListeners(at now: ContinuousClock.Instant) {
    for state in listeners.values {
      guard let connection = state.connection, connection.isIdle, state.isListening,
        state.lastHeard + limits.keepaliveInterval <= now
      else { continue }
      ask([Self.check], on: connection) { [weak state] in state?.lastHeard = .now }
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
      state.lastHeard = .now
      self.announce(state)
    }
  }

  /// Sends an exchange of the listener's own. When it fails, the connection is closed.
  private func ask(
    _ commands: [PostgresCommand], on connection: PostgresConnection,
    _ answered: @escaping () -> Void
  ) {
    // These commands have no values that could be too large.
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
