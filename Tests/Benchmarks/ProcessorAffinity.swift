import Foundation
import Glibc

/// The processors on which a thread and the threads and processes that it starts may run
/// (sched_setaffinity(2)).
enum ProcessorAffinity {
  /// One bit for each processor, as many as in a `cpu_set_t`.
  private typealias Mask = [UInt8]
  private typealias Call = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> CInt

  private static let maskLength = 128
  /// The C library declares both functions for GNU extensions only, so Swift does not import them.
  private static let getAffinity = call("sched_getaffinity")
  private static let setAffinity = call("sched_setaffinity")

  /// The processors that this thread may use, in order.
  static var available: [Int] {
    let mask = current
    return (0..<maskLength * 8).filter { mask[$0 / 8] & 1 << ($0 % 8) != 0 }
  }

  /// Runs `body` on one processor. Threads and processes that it starts stay there.
  ///
  /// - Parameter processor: nil for all processors that this thread may use.
  static func with<Result>(_ processor: Int?, _ body: () throws -> Result) rethrows -> Result {
    guard let processor else { return try body() }
    let before = current
    set(mask(of: processor))
    defer { set(before) }
    return try body()
  }

  /// Runs `body` with all threads of this process, and the threads that they start, on one
  /// processor.
  ///
  /// - Parameter processor: nil for all processors that the threads may use.
  static func withProcess<Result>(
    _ processor: Int?, _ body: () async throws -> Result
  ) async throws -> Result {
    guard let processor else { return try await body() }
    let before = current
    setAll(mask(of: processor))
    defer { setAll(before) }
    return try await body()
  }

  private static func mask(of processor: Int) -> Mask {
    var mask = Mask(repeating: 0, count: maskLength)
    mask[processor / 8] |= 1 << (processor % 8)
    return mask
  }

  /// Threads that end meanwhile are skipped; new threads inherit the mask of their creator.
  private static func setAll(_ mask: Mask) {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    var mask = mask
    for thread in threads.compactMap(pid_t.init) { _ = setAffinity(thread, maskLength, &mask) }
  }

  private static var current: Mask {
    var mask = Mask(repeating: 0, count: maskLength)
    // For the calling thread it returns the length of the mask; it fails on more than 1,024
    // processors.
    precondition(getAffinity(0, maskLength, &mask) >= 0, "the system has too many processors")
    return mask
  }

  private static func set(_ mask: Mask) {
    var mask = mask
    let status = setAffinity(0, maskLength, &mask)
    precondition(status == 0, "only existing processors are requested")
  }

  private static func call(_ name: String) -> Call {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else {
      preconditionFailure("every C library of Linux has \(name)")
    }
    // It has this signature (sched_setaffinity(2)).
    return unsafeBitCast(symbol, to: Call.self)
  }
}
