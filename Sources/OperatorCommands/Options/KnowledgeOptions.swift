import ArgumentParser
import EntitlementDomain

/// What the answer for another time is computed from (R54).
struct KnowledgeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      With --at: signed-by-then, the answer by what Apple had signed at that time, or now, what is \
      known today of that time.
      """, valueName: "knowledge"))
  var knowledge = Choice.signedByThen

  enum Choice: String, ExpressibleByArgument, CaseIterable {
    case signedByThen = "signed-by-then"
    case now
  }

  var value: Knowledge {
    switch knowledge {
    case .signedByThen: .signedByThen
    case .now: .now
    }
  }
}
