import ArgumentParser
import EntitlementDomain
import Programs
import StoreSimulator

struct ClockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Show or change the virtual time of a running simulator.",
    discussion: """
      When time advances, subscriptions renew, fail and end at their moments, in order, and all \
      notifications that are due are posted before the command ends.
      """,
    subcommands: [Show.self, Advance.self, SetTime.self, Speed.self], defaultSubcommand: Show.self)

  struct Answer: Decodable {
    let now: Int64
    let time: String
    let speed: Double
    let target: Int64?
    let isComplete: Bool?
    let events: Int?
    let attempts: Int?
    let delivered: Int?

    var text: String {
      guard let events, let attempts, let delivered else { return "\(time), speed \(speed)" }
      return "\(time), speed \(speed): \(events) events, \(delivered) of \(attempts) notifications "
        + "delivered"
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the virtual time.")

    @OptionGroup var control: ControlOptions

    func run() async throws {
      try await control.run("GET", "clock") { (answer: Answer) in answer.text }
    }
  }

  struct Advance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let time pass.")

    @Argument(help: "How much: a number and its unit, such as 90s, 5m, 12h, 31d or 2w.")
    var time: TimeSpan

    @OptionGroup var control: ControlOptions

    func run() async throws {
      var body = JSONObjectWriter()
      body.set("advanceMs", time.milliseconds)
      try await ClockCommand.change(body, control)
    }
  }

  struct SetTime: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Let time pass until a moment.")

    @Argument(help: "ISO 8601, or milliseconds since 1970.")
    var moment: SimulatorMoment

    @OptionGroup var control: ControlOptions

    func run() async throws {
      var body = JSONObjectWriter()
      body.set("setMs", moment.value.rawValue)
      try await ClockCommand.change(body, control)
    }
  }

  struct Speed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Change how fast time runs.")

    @Argument(help: "1 as real time, 0 not at all, 8928: a month in five minutes.")
    var speed: Double

    @OptionGroup var control: ControlOptions

    func run() async throws {
      var body = JSONObjectWriter()
      body.set("speed", number: "\(speed)")
      try await control.run("POST", "clock", body) { (answer: Answer) in answer.text }
    }
  }

  /// Sets the clock forward, in as many requests as it takes.
  ///
  /// - Parameter body: of the first request.
  private static func change(_ body: JSONObjectWriter, _ control: ControlOptions) async throws {
    var body = body
    var total = (events: 0, attempts: 0, delivered: 0)
    while true {
      let bytes = try await control.call("POST", "clock", body)
      let answer: Answer = try ControlOptions.decode(bytes)
      total.events += answer.events ?? 0
      total.attempts += answer.attempts ?? 0
      total.delivered += answer.delivered ?? 0
      if answer.isComplete == false, let target = answer.target {
        StandardError.write("\(answer.time): \(total.events) events")
        // A running clock may have passed the target; then what is due is still to be sent.
        body = JSONObjectWriter()
        body.set("advanceMs", max(0, target &- answer.now))
        continue
      }
      if control.json { return try SimulatorOutput.print(String(decoding: bytes, as: UTF8.self)) }
      return try SimulatorOutput.print(
        Answer(
          now: answer.now, time: answer.time, speed: answer.speed, target: answer.target,
          isComplete: true,
          events: total.events, attempts: total.attempts, delivered: total.delivered
        ).text)
    }
  }
}
