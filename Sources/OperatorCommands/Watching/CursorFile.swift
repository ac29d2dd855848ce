import Dispatch
import Foundation
import Programs
import Synchronization
import Wire

/// A file with the cursor of the last line that was printed. It is written beside the printing, as
/// fast as the disk takes it: never a cursor of a line that is not out, and after the death of the
/// process or of the machine one that was printed shortly before.
final class CursorFile: Sendable {
  private struct State {
    /// To be written.
    var pending: String?
    var isWriting = false
    var failure: CommandFailure?
  }

  private let path: String
  private let queue = DispatchQueue(label: "cursor file")
  private let state = Mutex(State())

  init(path: String) {
    self.path = path
  }

  /// - Returns: nil when there is no such file.
  /// - Throws: ``CommandFailure`` when it cannot be read, or holds something else.
  func load() throws(CommandFailure) -> String? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    // A line break is added when somebody edits it.
    let bytes = try InputFile.contents(
      of: path, limit: WatchCustomerStatesRequest.maximumCursorLength + 2)
    guard
      let cursor = String(validating: bytes, as: UTF8.self)?
        .trimmingCharacters(in: .whitespacesAndNewlines),
      !cursor.isEmpty, !cursor.contains(where: { $0.isWhitespace || $0 == "\0" })
    else { throw CommandFailure(.failed, "\(path): does not hold a cursor") }
    return cursor
  }

  /// Has the cursor written soon.
  ///
  /// - Throws: ``CommandFailure`` when an earlier one could not be.
  func keep(_ cursor: String) throws(CommandFailure) {
    let (begins, failure) = state.withLock { state in
      state.pending = cursor
      let begins = !state.isWriting && state.failure == nil
      if begins { state.isWriting = true }
      return (begins, state.failure)
    }
    if let failure { throw failure }
    if begins { queue.async { self.writePending() } }
  }

  /// Returns when the last cursor is on the disk.
  ///
  /// - Throws: ``CommandFailure`` when it could not be written.
  func finish() throws(CommandFailure) {
    queue.sync {}
    if let failure = state.withLock(\.failure) { throw failure }
  }

  private func writePending() {
    while true {
      let cursor = state.withLock { state -> String? in
        defer { state.pending = nil }
        if state.pending == nil { state.isWriting = false }
        return state.pending
      }
      guard let cursor else { return }
      do throws(CommandFailure) {
        try PrivateFile.write(Array("\(cursor)\n".utf8), to: path)
      } catch {
        return state.withLock { state in
          state.failure = error
          state.isWriting = false
        }
      }
    }
  }
}
