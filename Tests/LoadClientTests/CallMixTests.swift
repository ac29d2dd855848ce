import StoreSimulator
import Testing

@testable import LoadClient

@Suite("The mix of calls")
struct CallMixTests {
  @Test("weights survive a round trip")
  func parsing() throws {
    let mix = try CallMix(parsing: "hot=80,cold=15,absent=5,notify=0,batch=0.5")
    #expect(mix.weights == [.hot: 80, .cold: 15, .absent: 5, .batch: 0.5])
    #expect("\(mix)" == "hot=80,cold=15,absent=5,batch=0.5")
  }

  @Test(
    "a wrong text has its error",
    arguments: [
      ("", "\"\" is not KIND=WEIGHT"),
      ("hot", "\"hot\" is not KIND=WEIGHT"),
      ("hot=1=2", "\"hot=1=2\" is not KIND=WEIGHT"),
      ("hot=1,", "\"\" is not KIND=WEIGHT"),
      (
        "warm=1",
        "\"warm\" is not a kind of call; the kinds are hot, cold, absent, batch, check, submit, claim, notify"
      ),
      ("hot=1,hot=2", "hot occurs twice"),
      ("hot=-1", "the weight of hot is not a number from 0 to 1e9"),
      ("hot=nan", "the weight of hot is not a number from 0 to 1e9"),
      ("hot=many", "the weight of hot is not a number from 0 to 1e9"),
      ("hot=0,cold=0", "no kind has a weight above 0"),
    ])
  func errors(text: String, reason: String) {
    let error = #expect(throws: CallMix.ParseError.self) { try CallMix(parsing: text) }
    #expect(error?.description == reason)
  }

  @Test("each kind has its share")
  func shares() throws {
    let mix = try CallMix(parsing: "hot=7,check=2,absent=1")
    var generator = SeededGenerator(seed: 3)
    var counts: [CallKind: Int] = [:]
    for _ in 0..<100_000 { counts[mix.kind(&generator), default: 0] += 1 }
    #expect(abs(counts[.hot, default: 0] - 70_000) < 1_000)
    #expect(abs(counts[.check, default: 0] - 20_000) < 1_000)
    #expect(abs(counts[.absent, default: 0] - 10_000) < 1_000)
  }
}
