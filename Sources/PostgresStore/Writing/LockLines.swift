/// Parcels that wait, in a line for each lock that they want.
///
/// Nobody overtakes one that wants the same. Those that are first in all of their lines, at locks that
/// no lane has, are ready; only they are looked at, however many wait behind them.
struct LockLines {
  /// A parcel, and those that come in its place, in their order; none: it goes. They have turns of
  /// their own, and want nothing beside what it wants; or it is the only one, and nothing changes.
  typealias Change = (parcel: CommitParcel, others: [CommitParcel])

  private struct Waiting {
    let parcel: CommitParcel
    /// How many of its locks are not its own yet.
    var missing: Int
  }

  private struct Line {
    /// Turns of parcels. A slice, as its first element goes without moving the others.
    var parcels: ArraySlice<Int> = []
    /// A lane has the lock.
    var isTaken = false

    /// Whose the lock is.
    var owner: Int? { isTaken ? nil : parcels.first }
  }

  private var waiting: [Int: Waiting] = [:]
  private var lines: [String: Line] = [:]
  /// Turns of those that are ready, the lowest first, by kind.
  private var ready: [ArraySlice<Int>]

  init() {
    ready = CommitParcel.Kind.allCases.map { _ in [] }
  }

  // MARK: Who waits

  /// All that wait, by their turns.
  var parcels: [CommitParcel] {
    waiting.values.map(\.parcel).sorted { $0.turn < $1.turn }
  }

  func readyCount(_ kind: CommitParcel.Kind) -> Int { ready[kind.rawValue].count }

  func firstReady(_ kind: CommitParcel.Kind) -> CommitParcel? {
    ready[kind.rawValue].first.flatMap { waiting[$0]?.parcel }
  }

  // MARK: Coming and going

  /// Adds a parcel behind all others.
  mutating func append(_ parcel: CommitParcel) {
    add(parcel)
    for lock in parcel.locks { change(lock) { $0.parcels.append(parcel.turn) } }
  }

  /// Adds parcels before all others, in their order.
  mutating func prepend(_ parcels: [CommitParcel]) {
    for parcel in parcels.reversed() {
      add(parcel)
      for lock in parcel.locks {
        change(lock) { $0.parcels.insert(parcel.turn, at: $0.parcels.startIndex) }
      }
    }
  }

  /// Removes a parcel that is ready, and so the first in all of its lines.
  mutating func remove(_ parcel: CommitParcel) {
    waiting[parcel.turn] = nil
    removeReady(parcel)
    for lock in parcel.locks { change(lock) { $0.parcels.removeFirst() } }
  }

  /// Puts others in the places of parcels. Each line is gone through once, however many of them are in
  /// it.
  mutating func replace(_ changes: [Change]) {
    var successors: [Int: [CommitParcel]] = [:]
    var locks: Set<String> = []
    for (parcel, others) in changes where others.map(\.turn) != [parcel.turn] {
      if waiting.removeValue(forKey: parcel.turn)?.missing == 0 { removeReady(parcel) }
      for other in others { add(other) }
      successors[parcel.turn] = others
      locks.formUnion(parcel.locks)
    }
    for lock in locks {
      change(lock) { line in
        line.parcels = ArraySlice(
          line.parcels.flatMap { turn in
            successors[turn]?.filter { $0.locks.contains(lock) }.map(\.turn) ?? [turn]
          })
      }
    }
  }

  /// A lane has these locks from now on.
  mutating func take(_ locks: Set<String>) {
    for lock in locks { change(lock) { $0.isTaken = true } }
  }

  mutating func release(_ locks: Set<String>) {
    for lock in locks { change(lock) { $0.isTaken = false } }
  }

  // MARK: Who is ready

  private mutating func add(_ parcel: CommitParcel) {
    waiting[parcel.turn] = Waiting(parcel: parcel, missing: parcel.locks.count)
    if parcel.locks.isEmpty { addReady(parcel) }
  }

  /// Changes a line, and passes the lock on if it is somebody else's then.
  private mutating func change(_ lock: String, _ body: (inout Line) -> Void) {
    let (former, owner, isOver) = Self.change(&lines[lock, default: Line()], body)
    if isOver { lines[lock] = nil }
    if former == owner { return }
    if let former { lost(former) }
    if let owner { gained(owner) }
  }

  private static func change(
    _ line: inout Line, _ body: (inout Line) -> Void
  ) -> (former: Int?, owner: Int?, isOver: Bool) {
    let former = line.owner
    body(&line)
    return (former, line.owner, line.parcels.isEmpty && !line.isTaken)
  }

  private mutating func gained(_ turn: Int) {
    waiting[turn]?.missing -= 1
    if let found = waiting[turn], found.missing == 0 { addReady(found.parcel) }
  }

  /// - Parameter turn: of one that may have gone meanwhile.
  private mutating func lost(_ turn: Int) {
    if let found = waiting[turn], found.missing == 0 { removeReady(found.parcel) }
    waiting[turn]?.missing += 1
  }

  private mutating func addReady(_ parcel: CommitParcel) {
    let index = readyIndex(of: parcel)
    ready[parcel.kind.rawValue].insert(parcel.turn, at: index)
  }

  private mutating func removeReady(_ parcel: CommitParcel) {
    let index = readyIndex(of: parcel)
    if index == ready[parcel.kind.rawValue].startIndex {
      ready[parcel.kind.rawValue].removeFirst()
    } else {
      ready[parcel.kind.rawValue].remove(at: index)
    }
  }

  /// Where it is among those that are ready, or shall be.
  private func readyIndex(of parcel: CommitParcel) -> Int {
    let turns = ready[parcel.kind.rawValue]
    var (low, high) = (turns.startIndex, turns.endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if turns[middle] < parcel.turn { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
