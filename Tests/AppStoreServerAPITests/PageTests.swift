import AppStoreServerAPI
import EntitlementDomain
import NIOCore
import Testing

@Suite("Pages", .timeLimit(.minutes(2)))
struct PageTests {
  private func page(_ revision: String, hasMore: Bool, _ items: String = "") -> StubServer.Answer {
    .json(
      #"{"signedTransactions":[\#(items)],"revision":"\#(revision)","hasMore":\#(hasMore)}"#)
  }

  @Test("Pages are asked for by the former revision, beginning with a stored one")
  func order() async throws {
    try await Bench.run([
      page("r2", hasMore: true, #""a","b""#), page("r3", hasMore: true),
      page("r3", hasMore: false, #""c""#),
    ]) { bench in
      var seen: [String] = []
      var stored = "r1"
      let pages = bench.client.historyPages(
        of: TransactionID("1"), in: Bench.app, from: stored, deadline: bench.deadline)
      for try await page in pages {
        seen += page.signedTransactions
        stored = page.revision
      }
      #expect(seen == ["a", "b", "c"])
      #expect(stored == "r3")
      #expect(
        bench.server.requests.map { $0.target.drop { $0 != "?" } } == [
          "?revision=r1", "?revision=r2", "?revision=r3",
        ])
    }
  }

  @Test("Refunds and notifications have pages too, with the same body for each")
  func otherLists() async throws {
    try await Bench.run([page("r1", hasMore: true, #""a""#), page("r2", hasMore: false)]) { bench in
      var count = 0
      for try await page in bench.client.refundPages(
        of: TransactionID("1"), in: Bench.app, deadline: bench.deadline)
      {
        count += page.signedTransactions.count
      }
      #expect(count == 1)
      #expect(
        bench.server.requests.map(\.target) == [
          "/inApps/v2/refund/lookup/1", "/inApps/v2/refund/lookup/1?revision=r1",
        ])
    }
    let item = #"{"signedPayload":"a.b.c","sendAttempts":[]}"#
    try await Bench.run([
      .json(#"{"notificationHistory":[\#(item)],"hasMore":true,"paginationToken":"p1"}"#),
      .json(#"{"notificationHistory":[\#(item),\#(item)],"hasMore":false}"#),
    ]) { bench in
      let query = NotificationHistoryQuery(startDate: 1, endDate: 2, onlyFailures: true)
      var counts: [Int] = []
      for try await page in bench.client.notificationPages(
        in: Bench.app, matching: query, deadline: bench.deadline)
      {
        counts.append(page.notifications.count)
      }
      #expect(counts == [1, 2])
      let body = #"{"startDate":1,"endDate":2,"onlyFailures":true}"#
      #expect(bench.server.requests.map(\.body) == [body, body])
      #expect(
        bench.server.requests.map(\.target) == [
          "/inApps/v1/notifications/history",
          "/inApps/v1/notifications/history?paginationToken=p1",
        ])
    }
  }

  /// How the reading of all pages ended.
  private struct Reading: Equatable {
    var pages = 0
    var failure: AppStoreServerError.Code?
    var requests = 0

    init(_ pages: Int, _ failure: AppStoreServerError.Code?, _ requests: Int) {
      self.pages = pages
      self.failure = failure
      self.requests = requests
    }
  }

  private func read(
    _ answers: [StubServer.Answer], from: String? = nil, pages: Int = 100
  ) async throws -> Reading {
    var limits = AppStoreServerLimits()
    limits.pages = pages
    return try await Bench.run(answers, limits: limits) { bench in
      var reading = Reading(0, nil, 0)
      var iterator = bench.client.historyPages(
        of: TransactionID("1"), in: Bench.app, from: from, deadline: bench.deadline
      ).makeAsyncIterator()
      do throws(AppStoreServerError) {
        while try await iterator.next() != nil { reading.pages += 1 }
      } catch {
        reading.failure = error.code
      }
      // It stays at its end.
      let after = try await iterator.next()
      #expect(after == nil)
      reading.requests = bench.server.requests.count
      return reading
    }
  }

  @Test("A server that does not advance, runs in circles or never ends is an error")
  func endless() async throws {
    let same = try await read([page("r1", hasMore: true)])
    #expect(same == Reading(1, .endlessPages, 2))
    let stored = try await read([page("r1", hasMore: true)], from: "r1")
    #expect(stored == Reading(0, .endlessPages, 1))
    let circle = try await read(
      [page("r1", hasMore: true), page("r2", hasMore: true), page("r1", hasMore: true)])
    #expect(circle == Reading(2, .endlessPages, 3))
    let many = (0..<10).map { page("r\($0)", hasMore: true) }
    #expect(try await read(many, pages: 7) == Reading(7, .endlessPages, 7))
    #expect(try await read(many + [page("r9", hasMore: false)]) == Reading(11, nil, 11))
    // The end repeats the position when nothing is new.
    #expect(try await read([page("r1", hasMore: false)], from: "r1") == Reading(1, nil, 1))
  }

  @Test("The error of a page ends the sequence")
  func failure() async throws {
    let read = try await read([page("r1", hasMore: true), .error(4_000_005)])
    #expect(read == Reading(1, .refused, 2))
  }
}
