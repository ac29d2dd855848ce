/// The states of all customers of a server, without the time of evaluation.
enum StateList {
  static func read(from server: RunningServer) async throws -> [JSONTree] {
    let run = try await Bench.control(
      server, "customer", "list", "--bundle-id", "com.example.scribe", "--output", "json")
    guard run.exit == .code(0) else {
      throw HarnessFailure("customer list ended with \(run.exit):\n\(run.errors)")
    }
    return try run.document(JSONTree.self).elements.map { $0.without("evaluatedAtMs") }
  }
}
