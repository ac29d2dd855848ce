import TestSupport

/// The faults and their times: equal for equal seeds. Every kind comes once before any comes again.
struct FaultPlan: Sendable {
  struct Step: Sendable {
    /// Milliseconds between the end of the previous check and this fault.
    let pause: Int
    let fault: Fault
  }

  let steps: [Step]

  /// The maximum number of faults a minute; the run ends at its time, not with the plan.
  private static let stepsPerMinute = 10

  init(seed: UInt64, minutes: Int, servers: Int) {
    var random = SeededRandom(seed: seed)
    var steps: [Step] = []
    while steps.count < minutes * Self.stepsPerMinute {
      for kind in Fault.Kind.allCases.shuffled(using: &random) {
        steps.append(
          Step(
            pause: Int.random(in: 1_000...4_000, using: &random),
            fault: Self.fault(kind, servers: servers, using: &random)))
      }
    }
    self.steps = steps
  }

  private static func fault(
    _ kind: Fault.Kind, servers: Int, using random: inout SeededRandom
  ) -> Fault {
    switch kind {
    case .killServer:
      .killServer(
        Int.random(in: 0..<servers, using: &random),
        downFor: Int.random(in: 0...4_000, using: &random))
    case .killDatabase:
      .killDatabase(downFor: Int.random(in: 0...4_000, using: &random))
    case .failOver:
      .failOver(lag: Bool.random(using: &random) ? 0 : Int.random(in: 500...8_000, using: &random))
    case .cutConnections:
      .cutConnections(
        (0..<Int.random(in: 1...6, using: &random)).map { _ in
          Bool.random(using: &random)
            ? .beforeAnswer : .afterBytes(Int.random(in: 1...8_000, using: &random))
        })
    case .fillDisk:
      .fillDisk(lasting: Int.random(in: 2_000...10_000, using: &random))
    case .freezeDatabase:
      .freezeDatabase(lasting: Int.random(in: 1_000...12_000, using: &random))
    }
  }
}
