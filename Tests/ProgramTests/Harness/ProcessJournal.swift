import Foundation
import Synchronization

/// The output of a process so far and its exit, for waiting tests.
final class ProcessJournal: Sendable {
  struct Contents: Sendable {
    fileprivate(set) var output: [UInt8] = []
    fileprivate(set) var errors: [UInt8] = []
    fileprivate var openStreams = 2
    fileprivate var status: ProgramExit?

    /// Set when the process has ended and its complete output has been read.
    var exit: ProgramExit? { openStreams == 0 ? status : nil }

    var outputText: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// The complete lines of stderr.
    var errorLines: [String] {
      let whole = errors.lastIndex(of: UInt8(ascii: "\n")).map { errors[...$0] } ?? []
      return whole.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  private enum Event {
    case output([UInt8])
    case errors([UInt8])
    case streamEnded
    case exited(ProgramExit)
  }

  /// Called after each change; returns true when it needs no further call. `isLate` marks the last
  /// call.
  private typealias Waiter = @Sendable (Contents, _ isLate: Bool) -> Bool

  private struct State {
    var contents = Contents()
    var waiters: [Int: Waiter] = [:]
    var waiterCount = 0
  }

  private let state = Mutex(State())

  /// Enough for a debug build on a slow machine that runs other tests.
  static let patience = 180

  var contents: Contents { state.withLock { $0.contents } }

  func wrote(output: [UInt8]) { note(output.isEmpty ? .streamEnded : .output(output)) }
  func wrote(errors: [UInt8]) { note(errors.isEmpty ? .streamEnded : .errors(errors)) }
  func exited(_ status: ProgramExit) { note(.exited(status)) }

  private func note(_ event: Event) {
    state.withLock { state in
      switch event {
      case .output(let bytes): state.contents.output += bytes
      case .errors(let bytes): state.contents.errors += bytes
      case .streamEnded: state.contents.openStreams -= 1
      case .exited(let status): state.contents.status = status
      }
      for (number, waiter) in state.waiters where waiter(state.contents, false) {
        state.waiters[number] = nil
      }
    }
  }

  /// Waits until `find` returns a value.
  ///
  /// - Parameter what: the expected thing, as text for the failure.
  /// - Throws: what `find` throws; ``HarnessFailure`` after ``patience`` seconds.
  func first<Value: Sendable>(
    _ what: String, _ find: @escaping @Sendable (Contents) throws -> Value?
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let waiter: Waiter = { contents, isLate in
        do {
          if let value = try find(contents) {
            continuation.resume(returning: value)
          } else if isLate {
            throw HarnessFailure(
              "no \(what) within \(Self.patience) seconds; stderr:\n\(contents.errorText)")
          } else {
            return false
          }
        } catch {
          continuation.resume(throwing: error)
        }
        return true
      }
      state.withLock { state in
        if waiter(state.contents, false) { return }
        state.waiterCount += 1
        let number = state.waiterCount
        state.waiters[number] = waiter
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Self.patience)) {
          self.expire(number)
        }
      }
    }
  }

  private func expire(_ number: Int) {
    state.withLock { state in
      guard let waiter = state.waiters.removeValue(forKey: number) else { return }
      _ = waiter(state.contents, true)
    }
  }
}
