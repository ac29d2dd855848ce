import Glibc

extension MessageArena {
  /// Calls `body` with the calling thread's arena, which is emptied afterwards: nothing that lies
  /// in it may leave `body`.
  static func withThreadArena<Success>(
    limit: Int, _ body: (MessageArena) throws(MessageError) -> Success
  ) throws(MessageError) -> Success {
    var arena = ofThread()
    // No coding starts another today; should it once, it gets an arena of its own.
    if arena.isInUse { arena = MessageArena() }
    arena.begin(limit: limit)
    defer { arena.end() }
    return try body(arena)
  }

  private static func ofThread() -> MessageArena {
    if let pointer = pthread_getspecific(threadKey) {
      return Unmanaged<MessageArena>.fromOpaque(pointer).takeUnretainedValue()
    }
    let arena = MessageArena()
    // The key keeps one reference until the thread ends. Where it cannot, the arena serves once.
    let reference = Unmanaged.passRetained(arena)
    if pthread_setspecific(threadKey, reference.toOpaque()) != 0 { reference.release() }
    return arena
  }
}

/// One arena for each thread that ever coded a message: event loops, and few others.
private let threadKey: pthread_key_t = {
  var key = pthread_key_t()
  let result = pthread_key_create(&key) { pointer in
    // Only called with what `ofThread` stored, which is not nil.
    Unmanaged<MessageArena>.fromOpaque(pointer!).release()
  }
  precondition(result == 0, "more thread-specific keys than the system allows")
  return key
}()
