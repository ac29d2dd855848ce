import LoadClient
import PostgresBulkLoader

/// `pgbench`, which only runs one prepared script on several connections.
struct PgBench {
  let database: Psql
  let connections: Int

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The same settings as on the connections of the store: a query is planned once, in the same
  /// way.
  private static let planning = [
    "plan_cache_mode=force_generic_plan", "max_parallel_workers_per_gather=0", "jit=off",
    "enable_seqscan=off", "enable_hashjoin=off", "enable_mergejoin=off",
  ].map { "-c \($0)" }.joined(separator: " ")

  /// - Parameters:
  /// - script: in the language of pgbench, with `\set` commands.
  /// - variables: the initial variables of the script.
  /// - Throws: ``Subprocess/Failure``, whose reason is on stderr, and ``Failure`` when the output
  ///   is not understood or a transaction failed.
  func run(_ script: String, variables: [String: Int64] = [:], seconds: Int) throws
    -> (count: Int, perSecond: Double, processorTime: Double)
  {
    let defines = variables.sorted { $0.key < $1.key }.map { "--define=\($0.key)=\($0.value)" }
    // More threads than processors would only wait.
    let command =
      [
        "env", "PGOPTIONS=\(Self.planning)", "pgbench", "--no-vacuum", "--protocol=prepared",
        "--client=\(connections)",
        "--jobs=\(min(connections, 2))", "--time=\(seconds)", "--file=-",
      ] + defines + [database.uri]
    let (text, processorTime) = try Subprocess.output(of: command, input: script)
    guard let count = Self.number(after: "number of transactions actually processed: ", in: text),
      let rate = Self.number(after: "tps = ", in: text), count > 0,
      Self.number(after: "number of failed transactions: ", in: text) == 0
    else {
      throw Failure(description: "pgbench failed, or its output is not understood:\n\(text)")
    }
    return (Int(count), rate, processorTime)
  }

  private static func number(after label: String, in text: String) -> Double? {
    guard let start = text.firstRange(of: label)?.upperBound else { return nil }
    return Double(text[start...].prefix { $0.isNumber || $0 == "." })
  }
}
