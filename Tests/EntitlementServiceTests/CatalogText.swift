import EntitlementService
import Synchronization

/// A catalog file that the test writes.
final class CatalogText: Sendable {
  private struct State {
    var contents: Result<[UInt8], CatalogSource.Unreadable>
    var reads = 0
  }

  private let state: Mutex<State>

  init(_ text: String) { state = Mutex(State(contents: .success(Array(text.utf8)))) }

  func set(_ text: String) { set(bytes: Array(text.utf8)) }
  func set(bytes: [UInt8]) { state.withLock { $0.contents = .success(bytes) } }
  func remove() {
    state.withLock { $0.contents = .failure(CatalogSource.Unreadable("it is gone")) }
  }

  /// The number of reads.
  var reads: Int { state.withLock { $0.reads } }

  var source: CatalogSource {
    CatalogSource { () throws(CatalogSource.Unreadable) in
      try self.state.withLock { state in
        state.reads += 1
        return state.contents
      }.get()
    }
  }
}
