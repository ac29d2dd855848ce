import EntitlementDomain
import Framing
import NIOCore
import TestSupport
import Testing

@testable import Wire

@Suite("Contents of encoded answers")
struct AnswerContentTests {
  private func digest(_ state: CustomerState) throws -> Int {
    try #require(
      AnswerContent.digest(of: try GetCustomerStateResponse.state(state).encoded()))
  }

  @Test("the digest ignores revision and moment, and nothing else")
  func differences() throws {
    var generator = SeededRandom(for: "AnswerContentTests.differences")
    for _ in 0..<200 {
      let state = CustomerState.random(using: &generator)
      var same = state
      same.revision &+= 1
      same.evaluatedAt = Milliseconds(same.evaluatedAt.rawValue &+ 1)
      #expect(try digest(same) == digest(state))
      let changes: [(inout CustomerState) -> Void] = [
        { $0.accountID = AccountID(($0.accountID?.rawValue ?? "") + "x") },
        {
          $0.scope = AppScope(
            bundleID: BundleID($0.scope.bundleID.rawValue + "x"), environment: $0.scope.environment)
        },
        { $0.coreState = $0.coreState == .new ? .active : .new },
        { $0.callsToAction.append(.winBack) },
        { $0.entitlements.append(EntitlementState(entitlementID: "x", sources: [])) },
        { $0.nextTransitionAt = Milliseconds(($0.nextTransitionAt?.rawValue ?? 0) &+ 1) },
      ]
      for change in changes {
        var other = state
        change(&other)
        #expect(try digest(other) != digest(state))
      }
    }
  }

  @Test("the results of a batch are the encoded answers")
  func batch() throws {
    var generator = SeededRandom(for: "AnswerContentTests.batch")
    let answers = try (0..<5).map { _ in
      try GetCustomerStateResponse.state(.random(using: &generator)).encoded()
    }
    #expect(
      AnswerContent.results(
        of: BatchGetCustomerStateResponse.encoded(joining: answers.map { StampedMessage($0) }))
        == answers)
    #expect(AnswerContent.results(of: ByteBuffer()) == [])
  }

  @Test("bytes that are not such a message have no digest")
  func foreignBytes() throws {
    #expect(AnswerContent.digest(of: ByteBuffer(bytes: [0x0A, 0x05, 0x01])) == nil)
    #expect(AnswerContent.results(of: ByteBuffer(bytes: [0x0A, 0x05, 0x01])) == nil)
    var generator = SeededRandom(for: "AnswerContentTests.foreignBytes")
    for _ in 0..<2_000 {
      let bytes = ByteBuffer(bytes: generator.bytes(upTo: 200))
      _ = AnswerContent.digest(of: bytes)
      _ = AnswerContent.results(of: bytes)
    }
  }
}
