import CZstd
import Locks

/// What zstd needs beside a dictionary to compress.
// @unchecked: a context has one user at a time, who took it out of its pool.
final class CompressionContext: @unchecked Sendable {
  let pointer: OpaquePointer

  init?() {
    guard let pointer = ZSTD_createCCtx() else { return nil }
    self.pointer = pointer
    // The number of the dictionary and the length are stored beside the frame.
    for parameter in [ZSTD_c_contentSizeFlag, ZSTD_c_checksumFlag, ZSTD_c_dictIDFlag] {
      guard ZSTD_isError(ZSTD_CCtx_setParameter(pointer, parameter, 0)) == 0 else { return nil }
    }
  }

  deinit { ZSTD_freeCCtx(pointer) }
}

/// What zstd needs beside a dictionary to expand.
// @unchecked: as above.
final class ExpansionContext: @unchecked Sendable {
  let pointer: OpaquePointer

  init?() {
    guard let pointer = ZSTD_createDCtx() else { return nil }
    self.pointer = pointer
  }

  deinit { ZSTD_freeDCtx(pointer) }
}

/// Idle contexts. Making one costs more than compressing a payload.
struct ZstdContextPool<Context: Sendable>: Sendable {
  /// What more threads use at once is freed after its use.
  private let limit = 16
  private let idle = LockedValue<[Context]>([])

  /// - Parameters:
  ///   - make: makes a context when none is idle; nil when there is no memory for one.
  ///   - body: returns nil when zstd reports an error. Its context is not used again.
  func withContext<Result>(_ make: () -> Context?, _ body: (Context) -> Result?) -> Result? {
    guard let context = idle.withLock({ $0.popLast() }) ?? make(), let result = body(context)
    else { return nil }
    idle.withLock { if $0.count < limit { $0.append(context) } }
    return result
  }
}
