import EntitlementDomain
import EntitlementStore

/// Encoded answers in memory, bounded in bytes.
///
/// A write drops the answers of the customers that it changed before it is acknowledged, and an
/// answer that was being computed meanwhile is not kept: so what is served is never older than an
/// acknowledged write of this node. An answer is served only before its next transition (R30).
struct AnswerCache<Encoded: Sendable>: Sendable {
  typealias Key = AnswerTable.Key
  typealias LoadTicket = AnswerTable.LoadTicket

  private let table: AnswerTable
  private let size: @Sendable (Encoded) -> Int

  /// - Parameters:
  ///   - bytes: the bound on the sum of all answers' sizes with their bookkeeping.
  ///   - size: the bytes that an encoded answer occupies.
  init(bytes: Int, size: @escaping @Sendable (Encoded) -> Int) {
    table = AnswerTable(bytes: bytes)
    self.size = size
  }

  var statistics: CacheStatistics { table.statistics }

  func answer(for key: Key, at now: Milliseconds) -> HeldAnswer<Encoded>? {
    guard let answer = table.answer(for: key, at: now) else { return nil }
    // Only `loadEnded` puts answers into the table, and only of this type.
    return unsafeDowncast(answer, to: HeldAnswer<Encoded>.self)
  }

  func answer(for question: QuestionBytes, _ clock: ServiceClock) -> HeldAnswer<Encoded>? {
    guard let answer = table.answer(for: question, clock) else { return nil }
    // As above.
    return unsafeDowncast(answer, to: HeldAnswer<Encoded>.self)
  }

  func loadStarted() -> LoadTicket { table.loadStarted() }

  /// Counts a read that must wait for the store, once: it may have looked here more than once.
  func missed() { table.missed() }

  /// Counts a reader that waited for another's load.
  func loadJoined() { table.loadJoined() }

  /// Changes seen so far: a load that started at another count may be out of date.
  var clock: UInt64 { table.clock }

  /// Ends a load; keeps its answer unless its customer changed since the load began.
  func loadEnded(_ ticket: LoadTicket, key: Key, answer: HeldAnswer<Encoded>?) {
    let cost = answer.map { size($0.encoded) + AnswerTable.overhead } ?? 0
    table.loadEnded(ticket, key: key, answer: answer, cost: cost)
  }

  /// Drops every answer of these customers.
  func changed(_ subjects: some Sequence<CustomerSubject>) { table.changed(subjects) }

  /// Drops every answer; those that are being loaded are not kept.
  ///
  /// - Returns: what was dropped, for the caller to release when it holds no lock.
  func removeAll() -> some Sendable { table.removeAll() }
}
