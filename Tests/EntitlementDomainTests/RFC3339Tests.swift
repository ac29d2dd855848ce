import EntitlementDomain
import TestSupport
import Testing

@Suite("Moments in RFC 3339")
struct RFC3339Tests {
  @Test(
    "A moment is read with its offset",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2013-08-01T07:00:00Z", 1_375_340_400_000),
      ("2013-08-01t07:00:00z", 1_375_340_400_000),
      ("2013-08-01T09:00:00+02:00", 1_375_340_400_000),
      ("2013-08-01T03:30:00-03:30", 1_375_340_400_000),
      ("2013-08-01T07:00:00-00:00", 1_375_340_400_000),
      ("2013-08-01T07:00:00.25Z", 1_375_340_400_250),
      ("2013-08-01T07:00:00.007Z", 1_375_340_400_007),
      ("2013-08-01T07:00:00.9999999999999999999999Z", 1_375_340_400_999),
      ("2024-02-29T23:59:59Z", 1_709_251_199_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
      ("1969-12-31T23:59:59.999Z", -1), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] as [(String, Int64)])
  func accepted(text: String, milliseconds: Int64) {
    #expect(Milliseconds(rfc3339: text)?.rawValue == milliseconds)
  }

  @Test(
    "Other forms, and moments that do not exist, are refused",
    arguments: [
      "", "2024", "2024-03-01", "2024-03-01T00:00:00", "2024-03-01 00:00:00Z",
      "2024-03-01T00:00Z", "2024-03-01T00:00:00+0100", "2024-03-01T00:00:00+01",
      "2024-03-01T00:00:00 Z", " 2024-03-01T00:00:00Z", "2024-03-01T00:00:00Z ",
      "2024-03-01T00:00:00ZZ", "24-03-01T00:00:00Z", "2024-3-1T00:00:00Z",
      "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
      "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z", "2024-03-00T00:00:00Z",
      "2024-03-32T00:00:00Z", "2024-03-01T24:00:00Z", "2024-03-01T00:60:00Z",
      "2016-12-31T23:59:60Z", "2024-03-01T00:00:00.Z", "2024-03-01T00:00:00,5Z",
      "2024-03-01T00:00:00+24:00", "2024-03-01T00:00:00+01:60", "+2024-03-01T00:00:00Z",
      "２０２４-03-01T00:00:00Z", "2024-03-01T00:00:00.５Z",
    ])
  func refused(text: String) {
    #expect(Milliseconds(rfc3339: text) == nil)
  }

  @Test(
    "R4: a moment of Xcode may lack the colon of its offset, and nothing else",
    arguments: [
      ("2020-10-16T14:29:30+0300", 1_602_847_770_000),
      ("2020-10-16T14:29:30+03:00", 1_602_847_770_000),
      ("2020-10-16T11:29:30Z", 1_602_847_770_000), ("2020-10-16T11:29:30-0000", 1_602_847_770_000),
      ("2020-10-16T07:59:30-0330", 1_602_847_770_000),
      ("2020-10-16T14:29:30.2509+0300", 1_602_847_770_250),
      ("2020-02-29T23:30:00-0100", 1_583_022_600_000), ("2020-10-16T14:29:30+03", nil),
      ("2020-10-16T14:29:30+030", nil), ("2020-10-16T14:29:30+03000", nil),
      ("2020-10-16T14:29:30+2400", nil), ("2020-10-16T14:29:30+0360", nil),
      ("2020-10-16T14:29:30 +0300", nil), ("2020-10-16T14:29:30+3:00", nil),
      ("2020-10-16T14:29:300300", nil), ("2020-10-16 14:29:30+0300", nil),
      ("20201016T142930+0300", nil), ("2020-10-16T14:29:30+0300Z", nil), ("", nil),
    ] as [(String, Int64?)])
  func xcode(text: String, milliseconds: Int64?) {
    #expect(Milliseconds(xcode: text.utf8.span)?.rawValue == milliseconds)
  }

  @Test("The usual form is read as one with a numeric offset")
  func usualForm() {
    func moment(_ text: some Collection<UInt8>) -> Milliseconds? {
      Milliseconds(rfc3339: Array(text).span)
    }
    var random = SeededRandom(for: "timestamps")
    for _ in 0..<2_000 {
      let seconds = Int64.random(in: -62_167_219_200..<253_402_300_800, using: &random)
      let text = Milliseconds(seconds * 1_000).rfc3339
      #expect(moment(text.utf8) == Milliseconds(seconds * 1_000), "\(text)")
    }
    // Every byte in every place: most are no timestamps.
    var read = 0
    for text in ["2024-02-29T19:59:39Z", "1999-12-30T00:00:00Z"] {
      for place in 0..<19 {
        for byte in UInt8.min ... .max {
          var bytes = Array(text.utf8)
          bytes[place] = byte
          let expected = moment(bytes.dropLast() + Array("+00:00".utf8))
          #expect(moment(bytes) == expected, "\(byte) at \(place) of \(text)")
          read += expected == nil ? 0 : 1
        }
      }
    }
    #expect((200..<300).contains(read))
  }

  @Test(
    "A moment with a year of four digits is written to the second, or exactly",
    arguments: [
      (1_375_340_400_000, "2013-08-01T07:00:00Z", "2013-08-01T07:00:00Z"),
      (1_375_340_400_007, "2013-08-01T07:00:00Z", "2013-08-01T07:00:00.007Z"),
      (-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
      (253_402_300_800_000, "253402300800000 ms since 1970", "253402300800000"),
      (Int64.min, "\(Int64.min) ms since 1970", "\(Int64.min)"),
    ] as [(Int64, String, String)])
  func written(milliseconds: Int64, toTheSecond: String, exactly: String) {
    let moment = Milliseconds(milliseconds)
    #expect(moment.rfc3339 == toTheSecond)
    #expect(moment.exactRFC3339 == exactly)
    #expect(Milliseconds(written: moment.exactRFC3339) == moment)
  }

  @Test("Milliseconds are the only other form than RFC 3339")
  func writtenByPeople() {
    #expect(Milliseconds(written: "1375340400000") == 1_375_340_400_000)
    #expect(Milliseconds(written: "2013-08-01T09:00:00+02:00") == 1_375_340_400_000)
    #expect(Milliseconds(written: "yesterday") == nil)
  }
}
