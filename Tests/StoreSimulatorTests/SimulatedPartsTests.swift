import CatalogFiles
import EntitlementDomain
import StoreSimulator
import Testing

@Suite("Parts of the simulator")
struct SimulatedPartsTests {
  @Test("A seeded generator gives the published numbers of SplitMix64")
  func splitMix() {
    // The first three numbers of the reference implementation for seed 1234567.
    var generator = SeededGenerator(seed: 1_234_567)
    #expect(generator.next() == 6_457_827_717_110_365_317)
    #expect(generator.next() == 3_203_168_211_198_807_973)
    #expect(generator.next() == 9_817_491_932_198_370_423)
  }

  @Test("Labels and indexes give independent streams")
  func streams() {
    var seen: Set<UInt64> = []
    for label in ["a", "b", "ab", "ba"] {
      for index in 0..<100 {
        var generator = SeededGenerator(seed: 9, label: label, index: UInt64(index))
        seen.insert(generator.next())
      }
    }
    #expect(seen.count == 400)
  }

  @Test("Random UUIDs are of version 4")
  func uuids() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let parts = generator.uuid().split(separator: "-")
      #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
      #expect(parts[2].first == "4")
      #expect("89ab".contains(parts[3].first ?? "x"))
    }
  }

  @Test("JSON is written without white space, in order, with the required escapes")
  func json() {
    var inner = JSONObjectWriter()
    inner.set("flag", true)
    var writer = JSONObjectWriter()
    writer.set("text", "a\"b\\c\n\u{1}é/😀")
    writer.set("number", Int64.min)
    writer.set("absent", nil as String?)
    writer.set("list", ["x", "y"])
    writer.set("empty", [])
    writer.set("inner", inner)
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"text":"a\"b\\c\u000a\u0001é/😀","number":-9223372036854775808,"#
        + #""list":["x","y"],"inner":{"flag":true}}"#)
    #expect(JSONObjectWriter().bytes == Array("{}".utf8))
  }

  @Test(
    "Months are added on the calendar, up to the month's last day",
    arguments: [
      ("2024-01-31", 1_706_659_200_000, 1, 1_709_164_800_000),  // 2024-02-29
      ("2023-01-31", 1_675_123_200_000, 1, 1_677_542_400_000),  // 2023-02-28
      ("2024-11-30", 1_732_924_800_000, 3, 1_740_700_800_000),  // 2025-02-28
      ("2025-03-31", 1_743_379_200_000, 1, 1_745_971_200_000),  // 2025-04-30
      ("2025-12-15", 1_765_756_800_000, 12, 1_797_292_800_000),  // 2026-12-15
      ("2025-12-15", 1_765_756_800_000, 0, 1_765_756_800_000),
    ] as [(String, Milliseconds, Int, Milliseconds)])
  func months(start: String, moment: Milliseconds, months: Int, end: Milliseconds) {
    #expect(SimulatedCalendar.adding(months: months, to: moment) == end)
    // The time of day is kept.
    #expect(
      SimulatedCalendar.adding(months: months, to: moment.advanced(by: 86_399_999))
        == end.advanced(by: 86_399_999))
  }

  @Test("The simulator's calendar and the catalog's agree over a hundred years, and before 1970")
  func calendars() {
    for day in stride(from: Int64(-3_000), to: 40_000, by: 7) {
      let moment = Milliseconds(day * Milliseconds.dayLength + 12_345)
      for months in [1, 3, 12] {
        #expect(
          SimulatedCalendar.adding(months: months, to: moment)
            == CalendarDuration(months: Int64(months)).end(from: moment))
      }
    }
  }

  @Test("The catalog has no errors or warnings, and agrees with the products")
  func catalog() throws {
    let contents = try CatalogFile.parse(SimulatedApp.catalogYAML)
    #expect(contents.warnings.isEmpty)
    let catalog = contents.catalog
    #expect(catalog.apps[SimulatedApp.bundleID]?.appAppleID == SimulatedApp.appAppleID)
    #expect(catalog.products.count == SimulatedApp.products.count)
    for product in SimulatedApp.products {
      let known = try #require(catalog.products[product.id])
      #expect(known.entitlements == product.entitlements)
      #expect(known.group == product.group)
    }
  }
}
