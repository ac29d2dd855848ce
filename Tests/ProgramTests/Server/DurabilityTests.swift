import EntitlementDomain
import Foundation
import RPCClient
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Wire

/// Success means committed (R48, R49): an answered call survives `kill -9`, and an unanswered call
/// is stored completely or not at all.
@Suite("kill -9 in the middle of submissions", .serialized, .timeLimit(.minutes(5)))
struct DurabilityTests {
  /// TEST_SEED repeats a run.
  private static let seed = SeededRandom.givenSeed ?? .random(in: 0...999_999)
  private static let rounds = 5
  private static let connections = 8

  @Test func `nothing that was answered is lost, and nothing is half there`() async throws {
    let bench = try Bench()
    let plan = try SubmissionPlan(
      Bench.population(2 * LifeCycle.allCases.count), signedBy: bench.authority)
    let undisturbed = try await bench.startServer()
    let reference = try await plan.sendFirst(to: undisturbed)
    let states = try await Self.states(of: undisturbed)
    print("DurabilityTests: TEST_SEED=\(Self.seed)")
    for round in 0..<Self.rounds {
      var generator = SeededGenerator(seed: Self.seed, label: "kill", index: UInt64(round))
      let answers = 1 + generator.number(below: plan.callCount * 3 / 4)
      let crash = Crash(
        bench: bench, plan: plan, databasePath: bench.folder.file("round-\(round).sqlite"),
        answersBeforeKill: answers, comment: "seed \(Self.seed), round \(round)")
      try await crash.run(reference: reference, states: states)
    }
  }

  private static func states(of server: RunningServer) async throws -> [JSONTree] {
    // Revisions depend on the order of the calls of all customers.
    try await StateList.read(from: server).map { $0.without("revision") }
  }

  /// The answers so far.
  private final class AnswerRecord: Sendable {
    private struct State {
      var answers: [[SubmissionPlan.Answer]]
      var count = 0
    }

    private let state: Mutex<State>

    init(customerCount: Int) {
      state = Mutex(State(answers: Array(repeating: [], count: customerCount)))
    }

    var answers: [[SubmissionPlan.Answer]] { state.withLock { $0.answers } }

    /// - Returns: the number of answers including this one.
    func add(_ answer: SubmissionPlan.Answer, of customer: Int) -> Int {
      state.withLock { state in
        state.answers[customer].append(answer)
        state.count += 1
        return state.count
      }
    }
  }

  /// A server that is killed, and its successor on the same database.
  private struct Crash {
    let bench: Bench
    let plan: SubmissionPlan
    let databasePath: String
    let answersBeforeKill: Int
    let comment: Comment

    private func start() async throws -> RunningServer {
      try await bench.startServer("--store", "sqlite:\(databasePath)")
    }

    func run(reference: [[SubmissionPlan.Answer]], states: [JSONTree]) async throws {
      let first = try await start()
      let answered = try await submitUntilKilled(first)
      #expect(try await first.exit() == .signal(SIGKILL), comment)
      let count = answered.reduce(0) { $0 + $1.count }
      #expect(count >= answersBeforeKill && count < plan.callCount, comment)
      for (answers, expected) in zip(answered, reference) {
        #expect(answers == Array(expected.prefix(answers.count)), comment)
      }

      let second = try await start()
      let survived = try await DurabilityTests.states(of: second)
      for (index, customer) in plan.customers.enumerated()
      where answered[index].count == customer.steps.count {
        let id = JSONTree.text(customer.accountID.rawValue)
        let state = survived.first { $0["accountId"] == id }
        #expect(state == states[index], "\(comment), \(customer.accountID)")
      }
      let repeated = try await plan.send(to: second)
      var storedUnanswered = 0
      for (index, customer) in plan.customers.enumerated() {
        check(
          repeated[index], answered: answered[index].count, reference: reference[index],
          of: customer)
        storedUnanswered +=
          repeated[index].dropFirst(answered[index].count).first?.isRepeat == true ? 1 : 0
      }
      print("\(comment): \(count) calls answered, \(storedUnanswered) stored without an answer")
      #expect(try await DurabilityTests.states(of: second) == states, comment)
      #expect(try await second.stop() == .code(0), comment)
    }

    /// Sends on several connections concurrently, and kills the server at the given answer, while
    /// other calls are in flight.
    ///
    /// - Returns: the received answers, by customer, in the order of the calls.
    private func submitUntilKilled(
      _ server: RunningServer
    ) async throws -> [[SubmissionPlan.Answer]] {
      let record = AnswerRecord(customerCount: plan.customers.count)
      let lanes = DurabilityTests.connections
      // All connections are made before the first call: the server may be killed at its answer.
      var clients: [EntitlementClient] = []
      for _ in 0..<lanes { clients.append(try await server.client()) }
      try await withThrowingTaskGroup { group in
        for (lane, client) in clients.enumerated() {
          group.addTask {
            for index in stride(from: lane, to: plan.customers.count, by: lanes) {
              try await submit(index, with: client, to: server, record)
            }
          }
        }
        try await group.waitForAll()
      }
      return record.answers
    }

    private func submit(
      _ index: Int, with client: EntitlementClient, to server: RunningServer,
      _ record: AnswerRecord
    ) async throws {
      let customer = plan.customers[index]
      do {
        for step in customer.steps {
          let answer = try await SubmissionPlan.send(step, of: customer, to: client)
          if record.add(answer, of: index) == answersBeforeKill { server.signal(SIGKILL) }
        }
      } catch let error as RPCClientError
        where error.code == .connectionClosed || error.code == .unreachable
      {
        // Killed before it answered: this call is checked later.
      }
    }

    /// Checks the stored data by the answers to a second submission of everything.
    private func check(
      _ repeated: [SubmissionPlan.Answer], answered: Int, reference: [SubmissionPlan.Answer],
      of customer: SubmissionPlan.Customer
    ) {
      for (number, answer) in repeated.enumerated() {
        let isNotification = if case .notification = customer.steps[number] { true } else { false }
        let isThere = answer.isRepeat && answer.wasKnownNotification == isNotification
        let isNew = answer == reference[number]
        let place: Comment = "\(comment), \(customer.accountID), call \(number): \(answer)"
        if number < answered {
          #expect(isThere, place)
        } else if number == answered {
          // It was in flight, or not yet sent.
          #expect(isThere || isNew, place)
        } else {
          #expect(isNew, place)
        }
      }
    }
  }
}
