public import Glibc

/// A value that is protected by a mutex.
///
/// It serves as `Synchronization.Mutex`, with a lock that ThreadSanitizer understands. Under
/// contention `Mutex` locks inside the runtime library (`_MutexHandle._lockSlow`), which is not
/// instrumented. ThreadSanitizer then reports races that do not exist, and real races would be lost
/// among them.
// Public and inlinable: the compiler specialises functions of other modules only if they are both, and
// without that a call takes longer than the lock.
// @unchecked: the state is Sendable, and is accessed only while the lock is held.
public struct LockedValue<State: Sendable>: @unchecked Sendable {
  @usableFromInline let storage: ManagedBuffer<State, pthread_mutex_t>

  public init(_ state: State) {
    storage = Storage.create(minimumCapacity: 1) { _ in state }
    storage.withUnsafeMutablePointerToElements { lock in
      let outcome = pthread_mutex_init(lock, nil)
      // It fails only when memory is short, and glibc's mutexes allocate none.
      precondition(outcome == 0)
    }
  }

  /// Calls `body` while the lock is held; other threads wait. `body` must be short and must not
  /// call this method again: the lock is not recursive.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withUnsafeMutablePointers { (state, lock) throws(Failure) in
      // Neither call fails: the mutex is initialised, and only the locking thread unlocks it.
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
