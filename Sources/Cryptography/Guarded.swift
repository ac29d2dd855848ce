import Glibc

/// State that one thread at a time may touch, with the lock that guards it.
///
/// It is what `Synchronization.Mutex` is, on a lock that ThreadSanitizer understands. Where threads
/// contend, `Mutex` locks and unlocks within the runtime library (`_MutexHandle._lockSlow`), which
/// is not instrumented: ThreadSanitizer then reports races between threads that took turns, and
/// real ones would not be told from those.
// @unchecked: the state is touched with the lock held only, and it is Sendable itself.
package struct Guarded<State: Sendable>: @unchecked Sendable {
  private let storage: ManagedBuffer<State, pthread_mutex_t>

  package init(_ state: State) {
    storage = Storage.create(minimumCapacity: 1) { _ in state }
    storage.withUnsafeMutablePointerToElements { lock in
      let outcome = pthread_mutex_init(lock, nil)
      // It fails only for want of memory, which glibc's locks do not allocate.
      precondition(outcome == 0)
    }
  }

  /// Does something with the state; others wait. It must be short, and must not come back here.
  package func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withUnsafeMutablePointers { (state, lock) throws(Failure) in
      // Neither fails: the lock is initialised, and no thread unlocks what it has not locked.
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      return try body(&state.pointee)
    }
  }

  private final class Storage: ManagedBuffer<State, pthread_mutex_t> {
    deinit {
      withUnsafeMutablePointerToElements { lock in _ = pthread_mutex_destroy(lock) }
    }
  }
}
