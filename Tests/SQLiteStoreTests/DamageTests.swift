import EntitlementStore
import Foundation
import SQLiteStore
import TestSupport
import Testing

/// A damaged database gives errors and no wrong answers. What SQLite cannot tell from undamaged data is
/// named in `operations.md`.
@Suite("A damaged database", .timeLimit(.minutes(5)))
struct DamageTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// What became of one damaged file.
  private enum Outcome: String {
    /// The store did not open it.
    case refused
    /// Some reads failed, the others were right, and health says so.
    case failing
    /// Every answer was right.
    case right
    /// An answer was wrong.
    case wrong
  }

  /// Opens a file with the real store, and reads everything.
  private func outcome(
    of bytes: [UInt8], name: String,
    expected: [String: Result<String, StoreError>]
  ) async throws -> Outcome {
    let path = folder.file("damaged.sqlite")
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: path + suffix)
    }
    try Data(bytes).write(to: URL(filePath: path))
    let store: SQLiteStore
    do throws(StoreError) {
      store = try SQLiteStore.open(at: path, creates: false)
    } catch {
      return .refused
    }
    let answers = await DamagedFile.answers(of: store)
    var outcome = Outcome.right
    for (question, answer) in answers {
      switch answer {
      case .failure(let error):
        #expect(error.code == .corrupt, "\(name): \(error)")
        outcome = .failing
      case .success(let text):
        guard case .success(text) = expected[question] else {
          await store.close()
          return .wrong
        }
      }
    }
    if outcome == .failing {
      await #expect(throws: StoreError.self, "\(name)") { try await store.checkHealth() }
      await #expect(throws: StoreError.self, "\(name)") { try await store.submit(testFact(9_999)) }
    }
    await store.close()
    return outcome
  }

  /// A kind of damage to one page.
  private enum Damage: String, CaseIterable {
    case zeroed
    case garbage
    /// A bit of the header of a page of a tree, or of the link to the next page.
    case header
    /// A bit of the pointers to cells.
    case pointers
    case anyBit
    case swapped
    /// The page as it was before the last changes.
    case older
  }

  /// - Returns: nil if there is nothing to damage.
  private func damaged(
    _ file: DamagedFile, _ damage: Damage, _ page: DamagedFile.Page,
    _ random: inout SeededRandom
  ) -> [UInt8]? {
    let size = DamagedFile.pageSize
    let start = (page.number - 1) * size
    let range = start..<start + size
    // The first page begins with the header of the file.
    let header = start + (page.number == 1 ? 100 : 0)
    var bytes = file.bytes
    func flip(_ offsets: Range<Int>) {
      let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
      bytes[Int.random(in: offsets, using: &random)] ^= bit
    }
    switch damage {
    case .zeroed: bytes.replaceSubrange(range, with: [UInt8](repeating: 0, count: size))
    case .garbage:
      bytes.replaceSubrange(
        range, with: (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
    case .header: flip(header..<header + 8)
    case .pointers: flip(header + 8..<header + 16)
    case .anyBit: flip(range)
    case .swapped:
      let other = Int.random(in: 0..<file.pages.count, using: &random) * size
      bytes.replaceSubrange(range, with: file.bytes[other..<other + size])
      bytes.replaceSubrange(other..<other + size, with: file.bytes[range])
    case .older:
      guard range.upperBound <= file.olderBytes.count else { return nil }
      bytes.replaceSubrange(range, with: file.olderBytes[range])
    }
    return bytes == file.bytes ? nil : bytes
  }

  /// The undamaged file, and all answers from it.
  private func undamaged() async throws -> (
    file: DamagedFile, expected: [String: Result<String, StoreError>]
  ) {
    let path = folder.file("entitle.sqlite")
    let file = try await DamagedFile.make(at: path)
    let store = try SQLiteStore.open(at: path, creates: false)
    let expected = await DamagedFile.answers(of: store)
    await store.close()
    #expect(expected.count == 5 * DamagedFile.customers + 3)
    for (question, answer) in expected {
      guard case .success = answer else {
        Issue.record("\(question) failed")
        continue
      }
    }
    return (file, expected)
  }

  @Test("A damaged page gives errors, and no wrong answer")
  func pages() async throws {
    var random = SeededRandom(for: "DamageTests.pages")
    let (file, expected) = try await undamaged()
    for damage in Damage.allCases {
      var counts: [String: Int] = [:]
      for page in file.pages.shuffled(using: &random).prefix(24) {
        guard let bytes = damaged(file, damage, page, &random) else { continue }
        let name = "\(damage) \(page.owner ?? "free") \(page.kind)"
        let outcome = try await outcome(of: bytes, name: name, expected: expected)
        counts[outcome.rawValue, default: 0] += 1
        // A bit of a value that is neither indexed nor part of a payload, and an older page that
        // agrees with all others: nothing in the file tells.
        let isUndetectable =
          damage == .older
          || damage == .anyBit && ["leaf", "overflow"].contains(page.kind) && !page.isIndex
        if outcome == .wrong {
          print("wrong: \(name)")
          #expect(isUndetectable, "\(name)")
        }
      }
      print("DamageTests.pages \(damage): \(counts)")
    }
  }

  @Test("A damaged name in the schema is found at the start")
  func names() async throws {
    let (file, expected) = try await undamaged()
    let name = Array("signed_date INTEGER".utf8)
    let bytes = try #require(file.bytes.firstRange(of: name)).lowerBound
    var damaged = file.bytes
    damaged[bytes] ^= 1
    #expect(try await outcome(of: damaged, name: "a column", expected: expected) == .refused)
  }

  @Test("Each damaged payload is found when it is read")
  func payloads() async throws {
    var random = SeededRandom(for: "DamageTests.payloads")
    let (file, expected) = try await undamaged()
    // Any byte of a payload, on pages with cells and on overflow pages.
    for payload in file.payloads.shuffled(using: &random).prefix(12) {
      let place = Int.random(in: 0..<payload.count - 32, using: &random)
      // Payloads go on on other pages.
      guard let found = file.bytes.firstRange(of: payload[place..<place + 32]) else { continue }
      let offset = Int.random(in: found, using: &random)
      var bytes = file.bytes
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      // Free pages have former payloads.
      let outcome = try await outcome(of: bytes, name: "payload at \(offset)", expected: expected)
      #expect(outcome == .failing || outcome == .right, "offset \(offset): \(outcome)")
    }
  }

  @Test("A file that is cut off, empty or of another kind is not opened")
  func files() async throws {
    var random = SeededRandom(for: "DamageTests.files")
    let (file, expected) = try await undamaged()
    for round in 0..<16 {
      var count = Int.random(in: 0..<file.bytes.count, using: &random)
      if round.isMultiple(of: 2) { count = count / DamagedFile.pageSize * DamagedFile.pageSize }
      let outcome = try await outcome(
        of: Array(file.bytes.prefix(count)), name: "cut off at \(count)", expected: expected)
      #expect(outcome == .refused || outcome == .right, "cut off at \(count)")
    }
    let garbage = (0..<20_000).map { _ in UInt8.random(in: 0...255, using: &random) }
    for bytes in [[], garbage, [UInt8](repeating: 0, count: 20_000)] {
      #expect(try await outcome(of: bytes, name: "file", expected: expected) == .refused)
    }
  }

  @Test("A check that has too little time says so, and none is made without time")
  func timeOfCheck() async throws {
    let path = folder.file("entitle.sqlite")
    _ = try await DamagedFile.make(at: path)
    func check(_ limit: Duration) async throws -> IntegrityCheck {
      var limits = SQLiteStoreLimits()
      limits.checkTime = limit
      let store = try SQLiteStore.open(at: path, limits: limits)
      await store.close()
      return store.check
    }
    #expect(try await check(.zero) == .skipped)
    #expect(try await check(.seconds(600)) == .complete)
    #expect(try await check(.nanoseconds(1)) != .skipped)
  }
}
