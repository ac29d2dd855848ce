import ArgumentParser
import StoreSimulator

struct FaultCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fault",
    abstract: "Let notifications or requests of a running simulator fail.",
    subcommands: [Notifications.self, API.self, List.self, Clear.self], defaultSubcommand: List.self
  )

  struct Occurrence: ParsableArguments {
    @Option(help: "How often of all: 0 to 1. Which ones is decided by the seed.")
    var probability: Double?

    @Option(help: "How many times at most.")
    var count: Int64?

    @Option(
      name: .customLong("for"),
      help: ArgumentHelp("For how long, in virtual time, such as 12h.", valueName: "duration"))
    var duration: TimeSpan?

    func write(to body: inout JSONObjectWriter) {
      if let probability { body.set("probability", number: "\(probability)") }
      body.set("count", count)
      body.set("forMs", duration?.milliseconds)
    }
  }

  struct Notifications: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lose, delay, double or reorder notifications.",
      discussion: """
        lost: recorded as a success, and never sent. failed: recorded as NO_RESPONSE, not sent, and \
        tried again by Apple's schedule. late: sent later, after --delay of virtual time. doubled: \
        sent twice. reordered: sent after the others that are due.
        """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
      case lost, failed, late, doubled, reordered
    }

    @Argument(help: "What goes wrong.") var kind: Kind

    @Option(help: ArgumentHelp("How late: 1h without this option.", valueName: "duration"))
    var delay: TimeSpan?

    @OptionGroup var occurrence: Occurrence
    @OptionGroup var control: ControlOptions

    func run() async throws {
      var body = JSONObjectWriter()
      body.set("on", "notifications")
      body.set("kind", kind.rawValue)
      body.set("delayMs", delay?.milliseconds)
      occurrence.write(to: &body)
      try await FaultCommand.show(control, "POST", body)
    }
  }

  struct API: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "api", abstract: "Let requests of the App Store Server API fail.",
      discussion: """
        error: answered with --code. unauthorized: answered with 401. slow: answered after --delay \
        of real time. cut: the connection is closed. wrong-environment: no transaction is known.
        """)

    enum Kind: String, CaseIterable, ExpressibleByArgument {
      case error, unauthorized, slow, cut
      case wrongEnvironment = "wrong-environment"
    }

    @Argument(help: "What goes wrong.") var kind: Kind
    @Option(help: "The errorCode: 5000001 without this option.") var code: Int64?

    @Option(help: ArgumentHelp("How slow: 2s without this option.", valueName: "duration"))
    var delay: TimeSpan?

    @Option(help: "Only requests whose path begins so, such as /inApps/v2/history.")
    var path: String?

    @OptionGroup var occurrence: Occurrence
    @OptionGroup var control: ControlOptions

    func run() async throws {
      var body = JSONObjectWriter()
      body.set("on", "api")
      body.set("kind", kind.rawValue)
      body.set("errorCode", code)
      body.set("delayMs", delay?.milliseconds)
      body.set("path", path)
      occurrence.write(to: &body)
      try await FaultCommand.show(control, "POST", body)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the faults.")

    @OptionGroup var control: ControlOptions

    func run() async throws {
      try await FaultCommand.show(control, "GET", nil)
    }
  }

  struct Clear: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "End all faults.")

    @OptionGroup var control: ControlOptions

    func run() async throws {
      try await FaultCommand.show(control, "DELETE", nil)
    }
  }

  private struct Answer: Decodable {
    struct Fault: Decodable {
      let on: String
      let kind: String
      let probability: Double
      let count: Int?
      let errorCode: Int?
      let path: String?

      var line: String {
        [
          on, kind, errorCode.map { "\($0)" }, path, "probability \(probability)",
          count.map { "\($0) times" },
        ].compactMap { $0 }.joined(separator: "  ")
      }
    }

    let faults: [Fault]
  }

  private static func show(
    _ control: ControlOptions, _ method: String, _ body: JSONObjectWriter?
  ) async throws {
    try await control.run(method, "faults", body) { (answer: Answer) in
      answer.faults.isEmpty ? "no faults" : answer.faults.map(\.line).joined(separator: "\n")
    }
  }
}
