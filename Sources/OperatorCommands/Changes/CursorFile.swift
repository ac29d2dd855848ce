import Dispatch
import Foundation
import Programs
import Synchronization
import Wire

/// A file with the cursor of the last printed line. A dispatch queue writes it concurrently with
/// printing and coalesces pending cursors. The file never contains the cursor of a line that is not
/// printed yet. After a crash it contains the cursor of a line that was printed shortly before.
final class CursorFile: Sendable {
  private struct State {
    /// The next cursor to write; nil: none.
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
  /// - Throws: ``CommandFailure`` when it cannot be read, or does not contain a cursor.
  func load() throws(CommandFailure) -> String? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    // Editors add a line break, so two more bytes are allowed.
    let bytes = try InputFile.contents(
      of: path, limit: WatchCustomerStatesRequest.maximumCursorLength + 2)
    guard
      let cursor = String(validating: bytes, as: UTF8.self)?
        .trimmingCharacters(in: .whitespacesAndNewlines),
      !cursor.isEmpty, !cursor.contains(where: { $0.isWhitespace || $0 == "\0" })
    else { throw CommandFailure(.failed, "\(path): does not contain a cursor") }
    return cursor
  }

  /// Schedules a write of the cursor.
  ///
  /// - Throws: ``CommandFailure`` when an earlier write failed.
  func save(_ cursor: String) throws(CommandFailure) {
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
