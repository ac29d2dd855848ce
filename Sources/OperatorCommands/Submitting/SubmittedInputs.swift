import ArgumentParser
import Programs
import RPCClient

/// Inputs of which each is a call of its own.
enum SubmittedInputs {
  /// Makes the calls one after the other and prints what was answered, whatever became of the rest:
  /// that is committed. Ends the command with the failure at which it stopped, or with "refused".
  ///
  /// - Parameters:
  ///   - submit: makes one call.
  ///   - isRefused: whether the server refused an input, or a part of it.
  ///   - write: prints what was answered.
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
