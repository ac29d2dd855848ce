import EntitlementDomain
import Foundation
import Programs
import RPCClient
import TestSupport
import Testing
import Wire

@testable import OperatorCommands

@Suite("Files of accounts")
struct AccountFileTests {
  private static let defaults = AccountFileDefaults(
    bundleID: "com.example.scribe", environment: nil)

  /// Reads a file in pieces of so many bytes.
  private func rows(
    _ bytes: [UInt8], pieces: Int = 7, _ defaults: AccountFileDefaults = Self.defaults
  ) throws -> [AccountFileRow] {
    var rest = bytes[...]
    var reader = AccountFileReader(defaults) {
      defer { rest = rest.dropFirst(pieces) }
      return rest.isEmpty ? nil : Array(rest.prefix(pieces))
    }
    var rows: [AccountFileRow] = []
    while let row = try reader.next() { rows.append(row) }
    return rows
  }

  private func rows(_ text: String, pieces: Int = 7) throws -> [AccountFileRow] {
    try rows(Array(text.utf8), pieces: pieces)
  }

  /// `line: account transaction`, or `line: problem`.
  private func summary(_ rows: [AccountFileRow]) -> [String] {
    rows.map { row in
      switch row.content {
      case .success(let account):
        "\(row.line): \(account.accountID) \(account.transactionID)"
      case .failure(let problem): "\(row.line): \(problem.description)"
      }
    }
  }

  @Test func `csv has a header, quotes, both ends of lines, and columns of others`() throws {
    let text = """
      \u{FEFF}Account_ID,name, transaction_id ,app_account_token,environment\r
      anna,"A, ""the""\r
      first",11,7E3FB20B-4CDB-47CC-936D-99D65F608138,Sandbox\r

      "bert",,"12",,
      carl,"",13,,production
      """
    for pieces in [1, 2, 3, 1_000] {
      let rows = try rows(text, pieces: pieces)
      #expect(summary(rows) == ["2: anna 11", "5: bert 12", "6: carl 13"])
      let accounts = try rows.map { try $0.content.get() }
      #expect(accounts.map(\.row) == [2, 5, 6])
      #expect(accounts.map(\.environment) == [.sandbox, .production, .production])
      #expect(accounts.map(\.asksSandboxToo) == [false, true, false])
      #expect(
        accounts.map(\.appAccountToken) == ["7E3FB20B-4CDB-47CC-936D-99D65F608138", nil, nil])
    }
  }

  @Test func `json lines have the same members, and ids may be numbers`() throws {
    let text = """

      {"account_id":"anna","transaction_id":2000000000000011,"more":[1]}
      {"account_id":7,"transaction_id":"12","environment":"sandbox","app_account_token":null}\r
      {"account_id":"bert"
      ["x"]
      {"account_id":{"a":1},"transaction_id":"1"}
      {"transaction_id":"1"}
      """
    #expect(
      summary(try rows(text)) == [
        "2: anna 2000000000000011", "3: 7 12", "4: not a JSON object of texts and whole numbers",
        "5: not a JSON object of texts and whole numbers",
        "6: not a JSON object of texts and whole numbers", "7: account_id is missing",
      ])
  }

  @Test func `what is no row is told with its line, and the rows after it are read`() throws {
    let text = """
      account_id,transaction_id,environment,bundle_id
      ,1,,
      anna,,,
      anna,1
      anna,1,moon,
      anna,1,,com.example.other
      an"na,1,,
      "anna"x,1,,
      bert,2,,com.example.scribe
      """
    #expect(
      summary(try rows(text)) == [
        "2: account_id is missing", "3: transaction_id and receipt are missing",
        "4: 2 fields, where the header has 4", "5: environment is neither production nor sandbox",
        "6: the row is of another app", "7: a quote inside a field that is not quoted",
        "8: a quoted field goes on after its closing quote", "9: bert 2",
      ])
    #expect(
      summary(try rows("account_id,transaction_id\nanna,\"1\n2\nbert,3"))
        == ["2: a quoted field has no end"])
    let long = String(repeating: "a", count: 257)
    #expect(
      summary(try rows("account_id,transaction_id\n\(long),1\nanna,\(long)"))
        == ["2: account_id has more than 256 bytes", "3: transaction_id has more than 256 bytes"])
    #expect(
      summary(try rows(Array("account_id,transaction_id\n".utf8) + [0xFF] + Array(",1\na,2".utf8)))
        == ["2: not UTF-8", "3: a 2"])
    #expect(
      summary(try rows("account_id,transaction_id\na\0,1\n")) == ["2: account_id contains a NUL"])
  }

  @Test func `a huge line is passed over, in both forms`() throws {
    let huge = [UInt8](repeating: UInt8(ascii: "x"), count: AccountFileReader.maximumRecord + 10)
    for (head, row) in [
      ("account_id,transaction_id\n", "a,2"), ("{}\n", #"{"account_id":"a","transaction_id":"2"}"#),
    ] {
      let found = summary(
        try rows(Array(head.utf8) + huge + Array("\n\(row)\n".utf8), pieces: 1 << 20))
      #expect(found.suffix(2) == ["2: longer than 8 MiB", "3: a 2"])
    }
  }

  @Test(
    "A file without the columns is refused",
    arguments: [
      ("", "the file is empty"), ("account_id\na", "the header needs"),
      ("account_id,account_id,transaction_id\n", "a column is there twice"),
      ("transaction_id,receipt\n", "the header needs"),
    ])
  func headers(text: String, message: String) throws {
    let failure = #expect(throws: CommandFailure.self) { try rows(text) }
    #expect(failure?.message?.contains(message) == true)
  }

  @Test func `a file is read alike in pieces of any size, whatever it has`() throws {
    var random = SeededRandom(for: "AccountFileTests")
    let parts = ["a", ",", "\"", "\n", "\r", "\r\n", "1", "{", "é", "\u{FEFF}"]
    for _ in 0..<300 {
      var text = "account_id,transaction_id\n"
      for _ in 0..<Int.random(in: 0..<60, using: &random) {
        text += parts.randomElement(using: &random) ?? ""
      }
      let whole = try rows(text, pieces: 10_000)
      #expect(try rows(text, pieces: 1) == whole, "\(text.debugDescription)")
      #expect(try rows(text, pieces: 3) == whole, "\(text.debugDescription)")
    }
  }

  @Test func `the id of an import follows from the file, the app and the environment`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("a", to: "a.csv")
    let id = try AccountFile.importID(of: file, Self.defaults)
    #expect(id.count == 32)
    #expect(try AccountFile.importID(of: file, Self.defaults) == id)
    var others = [Self.defaults, Self.defaults]
    others[0].bundleID = "com.example.other"
    others[1].environment = .sandbox
    for other in others { #expect(try AccountFile.importID(of: file, other) != id) }
    let more = try folder.write("b", to: "b.csv")
    #expect(try AccountFile.importID(of: more, Self.defaults) != id)
  }
}

@Suite("The progress of imports of accounts")
struct ImportFollowerTests {
  private static func entry(done: Int64, failed: Int64 = 0, waiting: Int64) -> ImportEntry {
    ImportEntry(
      importID: "i", beganAt: 0, lastRow: 0,
      counts: [
        ImportCount(state: .done, count: done),
        ImportCount(state: .failed, failure: .conflict, count: failed),
        ImportCount(state: .waiting, count: waiting),
      ])
  }

  /// Answers looks that are two seconds apart.
  private func follow(
    _ answers: [Result<ImportEntry, any Error>], waiting: [[ImportRowEntry]] = []
  ) async throws -> (lines: [String], entry: ImportEntry) {
    var answers = answers
    var waiting = waiting
    var lines: [String] = []
    var now = Duration.zero
    let entry = try await ImportFollower(
      read: { try answers.removeFirst().get() },
      readWaiting: { waiting.isEmpty ? [] : waiting.removeFirst() },
      wait: { now += .seconds(2) }, now: { now }, date: { 1_000_000 },
      report: { lines.append($0) }
    ).follow("i")
    return (lines, entry)
  }

  @Test func `it tells the rate and the time that is left`() async throws {
    let (lines, entry) = try await follow([
      .success(Self.entry(done: 0, waiting: 1_000)),
      .success(Self.entry(done: 78, failed: 2, waiting: 920)),
      .success(Self.entry(done: 78, failed: 2, waiting: 920)),
      .success(Self.entry(done: 998, failed: 2, waiting: 0)),
    ])
    #expect(
      lines == [
        "import i: 0 done, 0 failed, 1000 waiting",
        "import i: 78 done, 2 failed, 920 waiting; 40 rows/s; 23 s left",
        "import i: 78 done, 2 failed, 920 waiting; 20 rows/s; 46 s left",
      ])
    #expect(entry == Self.entry(done: 998, failed: 2, waiting: 0))
    #expect(ImportCounts(entry).failure?.message == "2 rows failed")
    #expect(ImportCounts(Self.entry(done: 1, waiting: 0)).failure == nil)
  }

  @Test func `rows that wait for another attempt have their moment and their reason`() async throws
  {
    func row(_ number: Int64, _ detail: String?, due: Milliseconds) -> ImportRowEntry {
      ImportRowEntry(
        row: number, environment: .production, state: .waiting, detail: detail, changedAt: 0,
        dueAt: due)
    }
    let unknown = row(7, "unknown\n", due: 1_060_000)
    let later = row(3, "refused", due: 1_090_000)
    let due = row(9, nil, due: 1_000_000)
    let (lines, _) = try await follow(
      [
        .success(Self.entry(done: 0, waiting: 203)), .success(Self.entry(done: 200, waiting: 3)),
        .success(Self.entry(done: 201, waiting: 2)), .success(Self.entry(done: 201, waiting: 2)),
        .success(Self.entry(done: 202, waiting: 1)), .success(Self.entry(done: 203, waiting: 0)),
      ],
      waiting: [[later, unknown, due], [later, unknown], [later, unknown], [later]])
    #expect(
      lines == [
        "import i: 0 done, 0 failed, 203 waiting",
        // Of the row that can be done now.
        "import i: 200 done, 0 failed, 3 waiting; 100 rows/s; 0 s left",
        "import i: 201 done, 0 failed, 2 waiting; tried again by 1970-01-01 00:17:40Z: "
          + "row 7: unknown\\u{a}",
        "import i: 202 done, 0 failed, 1 waiting; tried again by 1970-01-01 00:18:10Z: "
          + "row 3: refused",
      ])
  }

  @Test func `an interruption and a lost server say that the import goes on`() async throws {
    let goesOn = "the import goes on in the server: entitlectl import status i --wait"
    let waiting = Result<ImportEntry, any Error>.success(Self.entry(done: 0, waiting: 1))
    let stopped = await #expect(throws: CommandFailure.self) {
      try await follow([waiting, .failure(CancellationError())])
    }
    #expect(stopped?.reason == .failed && stopped?.message == "stopped waiting; \(goesOn)")
    let lost = await #expect(throws: CommandFailure.self) {
      try await follow([waiting, .failure(RPCClientError(.connectionClosed, "closed"))])
    }
    #expect(lost?.reason == .unreachable && lost?.message?.hasSuffix("\n\(goesOn)") == true)
  }
}
