import TestSupport
import Testing

@testable import PostgresStore

/// Values go to a real server and come back.
@Suite(
  "Values of PostgreSQL",
  // Needs a PostgreSQL server on the machine.
  .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server is installed"))
struct PostgresValueTests {
  @Test(
    "Numbers keep their value",
    arguments: [0, 1, -1, 255, 65_536, .min, .max, 0x0102_0304_0506_0708] as [Int64])
  func numbers(number: Int64) async throws {
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read("SELECT $1, ($1)::text", [.int64(number)])
    #expect(try rows.int64(0, 0) == number)
    #expect(try rows.text(0, 1) == "\(number)")
  }

  @Test("Smaller integers are widened")
  func widening() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read("SELECT (-7)::smallint, (-70000)::integer")
    #expect(try rows.int64(0, 0) == -7)
    #expect(try rows.int64(0, 1) == -70_000)
  }

  @Test(
    "Texts keep their characters",
    arguments: ["", "a", "Käse", "\u{1F469}\u{200D}\u{1F680}", "quote ' \" \\", "\n\t", "{,}"])
  func texts(text: String) async throws {
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read("SELECT $1, octet_length($1)", [.text(text)])
    #expect(try rows.text(0, 0) == text)
    #expect(try rows.int64(0, 1) == Int64(text.utf8.count))
  }

  @Test(
    "Bytes keep their values, up to a mebibyte and beyond",
    arguments: [0, 1, 255, 1 << 20, 3_000_001])
  func bytes(count: Int) async throws {
    var random = SeededRandom(for: "bytes")
    let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read("SELECT $1, octet_length($1)", [.bytes(bytes)])
    #expect(try rows.bytes(0, 0) == bytes)
    #expect(try rows.int64(0, 1) == Int64(count))
    #expect(try rows.withBytes(0, 0) { $0?.count } == count)
  }

  @Test("Booleans and nulls keep their value")
  func truthAndNull() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read(
      "SELECT $1, $2, $3::bigint, $4::text, $5::bytea, $6::boolean",
      [.bool(true), .bool(false), .null, .null, .null, .null])
    #expect(try rows.bool(0, 0))
    #expect(try !rows.bool(0, 1))
    #expect(try rows.optionalInt64(0, 2) == nil)
    #expect(try rows.optionalText(0, 3) == nil)
    #expect(try rows.optionalBytes(0, 4) == nil)
    #expect(try rows.optionalBool(0, 5) == nil)
    #expect(try rows.isNull(0, 2))
  }

  @Test("Arrays keep their elements, empty ones and nulls too")
  func arrays() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let numbers: [[Int64?]] = [[], [nil], [1, nil, -3], [.min, .max], [nil, nil]]
    let flags: [[Bool?]] = [[], [true], [nil, false, true], [false], [true, nil]]
    let texts: [[String?]] = [[], [""], ["a", nil, "{\"x\"}"], ["NULL", "Käse"], [nil]]
    let contents: [[[UInt8]?]] = [[], [[]], [[0], nil, [255, 0, 1]], [[1, 2]], [nil, []]]
    for index in numbers.indices {
      let rows = try await pool.read(
        """
        SELECT $1, $2, $3, $4, coalesce(array_length($1, 1), 0), ($1)::text, ($3)::text,
          array_lower($3, 1)
        """,
        [
          .int64s(numbers[index]), .bools(flags[index]), .texts(texts[index]),
          .byteStrings(contents[index]),
        ])
      #expect(try rows.int64s(0, 0) == numbers[index])
      #expect(try rows.bools(0, 1) == flags[index])
      #expect(try rows.texts(0, 2) == texts[index])
      #expect(try rows.byteStrings(0, 3) == contents[index])
      #expect(try rows.int64(0, 4) == Int64(numbers[index].count))
      let written = numbers[index].map { $0.map { "\($0)" } ?? "NULL" }.joined(separator: ",")
      #expect(try rows.text(0, 5) == "{\(written)}")
      #expect(try rows.optionalInt64(0, 7) == (texts[index].isEmpty ? nil : 1))
    }
  }

  @Test("Arrays of ten thousand random elements come back as they went")
  func longArrays() async throws {
    var random = SeededRandom(for: "longArrays")
    let pool = try ConnectionFixture.sharedPool()
    let contents = (0..<10_000).map { _ in
      Bool.random(using: &random) ? random.bytes(upTo: 60) : nil
    }
    let numbers = (0..<10_000).map { _ in Int64.random(in: .min ... .max, using: &random) }
    let rows = try await pool.read(
      "SELECT a, b FROM unnest($1, $2) AS t(a, b)", [.byteStrings(contents), .int64s(numbers)])
    #expect(rows.count == 10_000)
    for row in 0..<rows.count {
      #expect(try rows.optionalBytes(row, 0) == contents[row])
      #expect(try rows.int64(row, 1) == numbers[row])
    }
  }

  @Test("A value of another type, or none, throws and does not trap")
  func wrongTypes() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let rows = try await pool.read(
      "SELECT 'abc'::text, NULL::bigint, ARRAY[[1,2],[3,4]]::bigint[], '\\xff'::bytea, now()")
    let reads: [(PostgresRows) throws -> Void] = [
      { _ = try $0.int64(0, 0) }, { _ = try $0.bool(0, 0) }, { _ = try $0.int64(0, 1) },
      { _ = try $0.int64s(0, 1) }, { _ = try $0.int64s(0, 2) }, { _ = try $0.text(0, 3) },
      { _ = try $0.texts(0, 0) }, { _ = try $0.int64(0, 9) }, { _ = try $0.int64(1, 0) },
      { _ = try $0.int64(-1, 0) }, { _ = try $0.int64(0, -1) }, { _ = try $0.bool(0, 4) },
    ]
    for read in reads {
      let failure = #expect(throws: PostgresFailure.self) { try read(rows) }
      #expect(failure?.kind == .protocolViolation)
    }
  }

  @Test("Truncated and random arrays never trap")
  func brokenArrays() throws {
    var random = SeededRandom(for: "brokenArrays")
    var encoder = ValueEncoder()
    _ = encoder.append(.texts(["one", nil, "three"]))
    let whole = encoder.bytes
    let decode = { (bytes: [UInt8]) in
      try bytes.withUnsafeBytes { try ValueDecoder.array($0, ValueDecoder.text) }
    }
    #expect(try decode(whole) == ["one", nil, "three"])
    for length in 0..<whole.count {
      #expect(throws: PostgresFailure.self) { try decode(Array(whole.prefix(length))) }
    }
    #expect(throws: PostgresFailure.self) { try decode(whole + [0]) }
    for _ in 0..<20_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] =
          UInt8.random(in: .min ... .max, using: &random)
      }
      _ = try? decode(bytes)
      _ = try? decode(random.bytes(upTo: 40))
    }
  }

  @Test("A result has the command tag and the number of written rows")
  func tags() async throws {
    let pool = try ConnectionFixture.sharedPool()
    try await pool.withSession(within: ConnectionFixture.limit) { session in
      try await session.run("CREATE TEMPORARY TABLE written (number bigint)")
      let rows = try await session.run("INSERT INTO written SELECT generate_series(1, 7)")
      #expect(rows.affectedRows == 7)
      #expect(rows.tag == "INSERT")
      #expect(rows.count == 0)
    }
  }
}
