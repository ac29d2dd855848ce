import CEntitleMessages
import Glibc

/// Memory for reading or writing one message: bump allocation in chunks up to a limit, given back
/// all at once. Freeing a single piece does nothing.
///
/// libprotobuf-c never frees early enough to matter, and this is faster than malloc; the limit caps
/// what a small hostile message can make it allocate.
final class MessageArena {
  /// Sufficient for pointers and 64-bit numbers, the widest that generated structures hold.
  private static let alignment = 8

  private let firstChunk: UnsafeMutableRawPointer
  private var laterChunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer
  private var remaining = MessageLimits.keptArenaSize
  /// Size of all chunks, in bytes.
  private var reserved = MessageLimits.keptArenaSize
  private var lastChunkSize = MessageLimits.keptArenaSize
  private var limit = 0

  /// True when an allocation failed since ``begin(limit:)``.
  private(set) var isExhausted = false
  private(set) var isInUse = false

  /// What libprotobuf-c allocates with. It points back at this arena without keeping it alive.
  let allocator: UnsafeMutablePointer<ProtobufCAllocator>

  init() {
    firstChunk = .allocate(
      byteCount: MessageLimits.keptArenaSize, alignment: MessageArena.alignment)
    next = firstChunk
    allocator = .allocate(capacity: 1)
    allocator.initialize(
      to: ProtobufCAllocator(
        alloc: { arena, size in
          // The arena outlives every call that it hands its allocator to, and always sets the data.
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

  /// Starts a message that may take `limit` bytes; a limit under the first chunk has no effect.
  func begin(limit: Int) {
    self.limit = limit
    isInUse = true
  }

  /// Gives back all memory but the first chunk. Pointers into the arena are invalid afterwards.
  func end() {
    releaseLaterChunks()
    next = firstChunk
    remaining = MessageLimits.keptArenaSize
    reserved = MessageLimits.keptArenaSize
    lastChunkSize = MessageLimits.keptArenaSize
    isExhausted = false
    isInUse = false
  }

  /// Uninitialised memory; nil when the limit does not allow it.
  func allocate(byteCount: Int) -> UnsafeMutableRawPointer? {
    // A size_t over Int.max comes as a negative number. The limit is far under Int.max, so rounding
    // what is under it cannot overflow.
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
