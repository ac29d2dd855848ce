import ArgumentParser
import Programs
import RPCClient
import Wire

/// Submits inputs with one call each.
enum SubmittedInputs {
  /// Inputs between two lines of progress.
  private static let progressStep = 500

  /// Makes the calls one after the other and prints the results. They are printed even if a later
  /// call fails, because the server has committed them.
  ///
  /// - Parameters:
  ///   - submit: makes one call.
  ///   - isRefused: whether the server refused an input, or a part of it.
  ///   - total: counts an outcome.
  ///   - write: prints the results.
  /// - Throws: the failure that stopped the calls, or ``CommandFailure`` with the reason `refused`
  ///   when the server refused an input.
  static func submitEach<Input, Outcome>(
    _ inputs: [Input], to server: ServerOptions,
    by submit: (EntitlementClient, Input) async throws -> Outcome,
    isRefused: (Outcome) -> Bool, total: (Outcome, inout SubmissionTotal) -> Void,
    write: ([Outcome]) throws -> Void
  ) async throws {
    var outcomes: [Outcome] = []
    let failure = try await server.failure { client in
      for input in inputs {
        outcomes.append(try await submit(client, input))
        if outcomes.count.isMultiple(of: progressStep) {
          StandardError.write("submitted \(outcomes.count) of \(inputs.count)")
        }
      }
    }
    if failure == nil || !outcomes.isEmpty { try write(outcomes) }
    var sum = SubmissionTotal(of: inputs.count)
    for outcome in outcomes { total(outcome, &sum) }
    sum.report()
    if let failure { throw failure }
    if outcomes.contains(where: isRefused) {
      throw CommandFailure(.refused, nil)
    }
  }
}

/// How many inputs were submitted, and with which outcomes: the last line of a submission on stderr.
struct SubmissionTotal {
  /// A table of more inputs has the refused ones only: the total counts the others. JSON has all.
  static let longestTable = 100

  private let inputs: Int
  private var submitted = 0
  /// Of accepted inputs, by disposition; and of refused ones, by verdict.
  private var accepted: [String: Int] = [:]
  private var refused: [String: Int] = [:]

  init(of inputs: Int) {
    self.inputs = inputs
  }

  /// - Parameter dispositions: what became of the parts of an accepted input, each with a number.
  mutating func add(_ verdict: SubmissionVerdict, _ dispositions: [String: Int]) {
    submitted += 1
    if verdict != .ok {
      refused[wireName(verdict), default: 0] += 1
    } else {
      accepted.merge(dispositions, uniquingKeysWith: +)
    }
  }

  var text: String {
    let ok = submitted - refused.values.reduce(0, +)
    let head = submitted == inputs ? "\(inputs)" : "\(submitted) of \(inputs)"
    let parts = Self.list(accepted)
    return
      (["\(head) submitted: \(ok) OK\(parts.isEmpty ? "" : " (\(parts))")"]
      + (refused.isEmpty ? [] : [Self.list(refused)])).joined(separator: ", ")
  }

  /// The outcomes that a table shows.
  static func shown<Outcome>(
    _ outcomes: [Outcome], verdict: (Outcome) -> SubmissionVerdict
  ) -> [Outcome] {
    outcomes.count <= longestTable ? outcomes : outcomes.filter { verdict($0) != .ok }
  }

  func report() { StandardError.write(text) }

  /// The largest number first.
  private static func list(_ counts: [String: Int]) -> String {
    counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { "\($0.value) \($0.key)" }.joined(separator: ", ")
  }
}

/// The priority with which the server verifies submitted payloads.
struct PriorityOption: ParsableArguments {
  enum Name: String, ExpressibleByArgument, CaseIterable {
    case interactive
    case bulk
  }

  @Option(help: "interactive, or bulk for imports: verified after interactive submissions.")
  var priority: Name = .interactive

  var submissionPriority: SubmissionPriority {
    switch priority {
    case .interactive: .interactive
    case .bulk: .bulk
    }
  }
}
