import CEntitleMessages
import Glibc

/// A bump allocator for reading or writing one message. Allocates chunks up to a limit, and frees
/// all chunks at once; freeing a single allocation does nothing.
///
/// This is faster than malloc, and libprotobuf-c would free nothing before the end anyway. The
/// limit bounds the memory that a small hostile message can take.
final class MessageArena {
  /// Sufficient for pointers and 64-bit numbers, the widest fields of generated structures.
  private static let alignment = 8

  private let firstChunk: UnsafeMutableRawPointer
  private var laterChunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer
  private var remaining = MessageLimits.retainedArenaSize
  /// Size of all chunks, in bytes.
  private var reserved = MessageLimits.retainedArenaSize
  private var lastChunkSize = MessageLimits.retainedArenaSize
  private var limit = 0

  /// True when an allocation failed since ``begin(limit:)``.
  private(set) var isExhausted = false
  private(set) var isInUse = false

  /// The allocator for libprotobuf-c. It refers to this arena without retaining it.
  let allocator: UnsafeMutablePointer<ProtobufCAllocator>

  init() {
    firstChunk = .allocate(
      byteCount: MessageLimits.retainedArenaSize, alignment: MessageArena.alignment)
    next = firstChunk
    allocator = .allocate(capacity: 1)
    allocator.initialize(
      to: ProtobufCAllocator(
        alloc: { arena, size in
          // Never nil, and alive: the arena sets the data, and outlives every call that gets its
          // allocator.
          Unmanaged<MessageArena>.fromOpaque(arena!)._withUnsafeGuaranteedRef {
            $0.allocate(byteCount: size)
          }
        },
        free: { _, _ in },
        allocator_data: nil))
    allocator.pointee.allocator_data = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    releaseLaterChunks()
    firstChunk.deallocate()
    allocator.deinitialize(count: 1)
    allocator.deallocate()
  }

  /// Starts a message that may take `limit` bytes. A limit below the size of the first chunk has no
  /// effect.
  func begin(limit: Int) {
    self.limit = limit
    isInUse = true
  }

  /// Frees all memory except the first chunk. Pointers into the arena are invalid afterwards.
  func end() {
    releaseLaterChunks()
    next = firstChunk
    remaining = MessageLimits.retainedArenaSize
    reserved = MessageLimits.retainedArenaSize
    lastChunkSize = MessageLimits.retainedArenaSize
    isExhausted = false
    isInUse = false
  }

  /// Uninitialised memory; nil when the limit does not allow it.
  func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    // A size_t above Int.max arrives as a negative number. The limit is far below Int.max, so
    // rounding up cannot overflow.
    guard byteCount >= 0, byteCount <= max(limit, remaining) else { return exhausted() }
    let size = (byteCount + MessageArena.alignment - 1) & ~(MessageArena.alignment - 1)
    if size > remaining, !addChunk(atLeast: size) { return exhausted() }
    let piece = next
    next += size
    remaining -= size
    return piece
  }

  private func exhausted() -> UnsafeMutableRawPointer? {
    isExhausted = true
    return nil
  }

  private func addChunk(atLeast size: Int) -> Bool {
    let allowed = limit - reserved
    guard size <= allowed else { return false }
    let chunkSize = max(size, min(2 * lastChunkSize, allowed))
    let chunk = UnsafeMutableRawPointer.allocate(
      byteCount: chunkSize, alignment: MessageArena.alignment)
    laterChunks.append(chunk)
    next = chunk
    remaining = chunkSize
    reserved += chunkSize
    lastChunkSize = chunkSize
    return true
  }

  private func releaseLaterChunks() {
    for chunk in laterChunks { chunk.deallocate() }
    laterChunks.removeAll(keepingCapacity: false)
  }
}

extension MessageArena {
  /// Calls `body` with the arena of the calling thread, and empties the arena afterwards: no
  /// pointer into it may escape from `body`.
  static func withThreadArena<Success>(
    limit: Int, _ body: (MessageArena) throws(MessageError) -> Success
  ) throws(MessageError) -> Success {
    var arena = ofThread()
    // Encoding and decoding do not nest today. A nested call would get an arena of its own.
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
    // The thread-specific value retains the arena until the thread ends. If it cannot be set, the
    // arena is used once.
    let reference = Unmanaged.passRetained(arena)
    if pthread_setspecific(threadKey, reference.toOpaque()) != 0 { reference.release() }
    return arena
  }
}

/// One arena for each thread that encoded or decoded a message: event loops, and few others.
private let threadKey: pthread_key_t = {
  var key = pthread_key_t()
  let result = pthread_key_create(&key) { pointer in
    // Never nil: only called with the pointer that `ofThread` stored.
    Unmanaged<MessageArena>.fromOpaque(pointer!).release()
  }
  precondition(result == 0, "more thread-specific keys than the system allows")
  return key
}()
