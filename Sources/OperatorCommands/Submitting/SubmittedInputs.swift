import ArgumentParser
import Programs
import RPCClient
import Wire

/// Submits inputs with one call each.
enum SubmittedInputs {
  /// Makes the calls one after the other and prints the results. They are printed even if a later
  /// call fails, because the server has committed them.
  ///
  /// - Parameters:
  ///   - submit: makes one call.
  ///   - isRefused: whether the server refused an input, or a part of it.
  ///   - write: prints the results.
  /// - Throws: the failure that stopped the calls, or ``CommandFailure`` with the reason `refused`
  ///   when the server refused an input.
  static func submitEach<Input, Outcome>(
    _ inputs: [Input], to server: ServerOptions,
    by submit: (EntitlementClient, Input) async throws -> Outcome,
    isRefused: (Outcome) -> Bool, write: ([Outcome]) throws -> Void
  ) async throws {
    var outcomes: [Outcome] = []
    let failure = try await server.failure { client in
      for input in inputs {
        outcomes.append(try await submit(client, input))
        if inputs.count > 1 {
          StandardError.write("submitted \(outcomes.count) of \(inputs.count)")
        }
      }
    }
    if failure == nil || !outcomes.isEmpty { try write(outcomes) }
    if let failure { throw failure }
    if outcomes.contains(where: isRefused) {
      throw CommandFailure(.refused, nil)
    }
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
