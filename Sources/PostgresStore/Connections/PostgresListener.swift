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
