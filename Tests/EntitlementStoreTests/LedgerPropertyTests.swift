import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@Suite("Ledgers over random writes")
struct LedgerPropertyTests {
  private static let rounds = 40

  @Test("Writes that share a ledger come out as if each had been applied before the next")
  func sharedLedger() throws {
    var random = SeededRandom(for: "shared ledger")
    for round in 0..<Self.rounds {
      var writes = RandomWrites(SeededRandom(seed: random.next()))
      var sequential = Book()
      var shared = Book()
      // Several batches, so that they meet stored rows too.
      for batch in 0..<6 {
        let batchWrites = writes.writes(Int.random(in: 1...12, using: &random))
        let outcomes = batchWrites.map { try? sequential.write($0) }
        var ledger = Ledger(reader: shared)
        let decided = try batchWrites.map { try ledger.take($0) }
        let numbering = try shared.apply(ledger.changes)
        let place = "round \(round), batch \(batch)"
        for (index, pair) in zip(outcomes, decided.map { $0?(numbering) }).enumerated() {
          #expect(pair.0 == pair.1, "\(place), write \(index): \(batchWrites[index])")
        }
        try expectSame(shared, sequential, place)
      }
    }
  }

  @Test("A store that reads ahead decides the same, and needs few rounds more")
  func readingAhead() throws {
    var random = SeededRandom(for: "reading ahead")
    var extraRounds: [Bool: [Int: Int]] = [:]
    for round in 0..<Self.rounds {
      var writes = RandomWrites(SeededRandom(seed: random.next()))
      var book = Book()
      for step in 0..<40 {
        let batch = writes.writes(step.isMultiple(of: 4) ? 5 : 1)
        var ledger = Ledger(reader: book)
        let decided = try batch.map { try ledger.take($0) }
        for isForesighted in [true, false] {
          let run = try ReadAheadRun(batch, over: book, isForesighted: isForesighted)
          let numbering = ChangeNumbering(base: book.feedEnd)
          #expect(run.outcomes == decided.map { $0?(numbering) }, "round \(round), step \(step)")
          var (one, other) = (book, book)
          _ = try one.apply(ledger.changes)
          _ = try other.apply(run.changes)
          try expectSame(other, one, "round \(round), step \(step)")
          if batch.count == 1 {
            extraRounds[isForesighted, default: [:]][run.extraRounds, default: 0] += 1
          }
        }
        _ = try book.apply(ledger.changes)
      }
    }
    for (isForesighted, counts) in extraRounds {
      let list = counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
      print("extra rounds, \(isForesighted ? "told ahead" : "not told"): \(list)")
      // Each step from one unlinked chain to the next costs some; the usual writes are in
      // ``ReadAheadTests``.
      let total = counts.reduce(0) { $0 + $1.key * $1.value }
      #expect(total <= counts.values.reduce(0, +), "more than one in the mean")
    }
  }

  @Test("After whatever was asked, what is stored fits together (R41–R46)")
  func invariants() throws {
    var random = SeededRandom(for: "invariants")
    for round in 0..<Self.rounds {
      var writes = RandomWrites(SeededRandom(seed: random.next()))
      var book = Book()
      for write in writes.writes(80) {
        let before = book
        // One that cannot be done leaves the book as it was.
        guard let outcome = try? book.write(write) else { continue }
        let problems = BookCheck(book, before: before).problems(after: write, outcome)
        #expect(problems.isEmpty, "round \(round), after \(write)")
      }
    }
  }

  @Test("A write that is repeated at once changes nothing more, and says so")
  func repeated() throws {
    var random = SeededRandom(for: "repeated")
    for round in 0..<Self.rounds {
      var writes = RandomWrites(SeededRandom(seed: random.next()))
      var book = Book()
      for write in writes.writes(80) {
        let first = try? book.write(write)
        let once = book
        let second = try? book.write(write)
        let place = "round \(round), after \(write)"
        try expectSame(book, once, place)
        #expect((first == nil) == (second == nil), "\(place)")
        #expect(second?.isUnchanged != false, "\(place): \(String(describing: second))")
      }
    }
  }

  @Test("A write that a failing store interrupts leaves the ledger as it was, and can be repeated")
  func failures() throws {
    var random = SeededRandom(for: "failures")
    for round in 0..<Self.rounds {
      var writes = RandomWrites(SeededRandom(seed: random.next()))
      let batch = writes.writes(12)
      let flaky = FlakyReader(book: Book(), patience: 0)
      var ledger = Ledger(reader: flaky)
      var interruptions = 0
      var outcomes: [BookWrite.Outcome?] = []
      for write in batch {
        flaky.patience = 0
        while true {
          do {
            outcomes.append(try ledger.take(write)?(ChangeNumbering(base: 0)))
            break
          } catch is FlakyReader.Failure {
            interruptions += 1
            // It comes a little further each time.
            flaky.patience = interruptions % 40
          }
        }
      }
      var whole = Ledger(reader: Book())
      let expected = try batch.map { try whole.take($0)?(ChangeNumbering(base: 0)) }
      #expect(outcomes == expected, "round \(round)")
      var (one, other) = (Book(), Book())
      _ = try one.apply(ledger.changes)
      _ = try other.apply(whole.changes)
      try expectSame(one, other, "round \(round)")
      #expect(interruptions > 0)
    }
  }

  private func expectSame(_ left: Book, _ right: Book, _ place: String) throws {
    #expect(left.facts == right.facts, "\(place)")
    #expect(left.documents == right.documents, "\(place)")
    #expect(left.links == right.links, "\(place)")
    #expect(left.accounts == right.accounts, "\(place)")
    #expect(left.tokens == right.tokens, "\(place)")
    #expect(left.grants == right.grants, "\(place)")
    #expect(left.notifications == right.notifications, "\(place)")
    #expect(left.history == right.history, "\(place)")
    #expect(left.feed == right.feed, "\(place)")
    // One difference is enough to look at.
    try #require(left.feed == right.feed && left.history == right.history)
  }
}
