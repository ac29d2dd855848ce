import Synchronization

/// The findings so far, each one once. The first ones of each kind are printed at once.
final class Findings: Sendable {
  private let found = Mutex<[FindingKind: Set<String>]>([:])
  private let journal: Journal

  private static let toldOfEachKind = 20

  init(journal: Journal) {
    self.journal = journal
  }

  func add(_ kind: FindingKind, _ detail: String) {
    let count: Int? = found.withLock { found in
      found[kind, default: []].insert(detail).inserted ? found[kind]?.count : nil
    }
    // Later checks find the same facts again.
    guard let count else { return }
    if count <= Self.toldOfEachKind {
      journal.tell("FOUND: \(kind.rawValue): \(detail)")
    } else if count == Self.toldOfEachKind + 1 {
      journal.tell("FOUND: \(kind.rawValue): more of the kind, which are only counted")
    }
  }

  var total: Int { found.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  /// One line for each kind with findings.
  var lines: [String] {
    found.withLock { found in
      FindingKind.allCases.compactMap { kind in
        found[kind].map { "\(kind.rawValue): \($0.count)" }
      }
    }
  }
}
