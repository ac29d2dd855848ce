import ArgumentParser
import EntitlementDomain
import Foundation
import Framing
import Programs
import StoreSimulator
import StoreSimulatorServer

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve a simulated App Store: its API, its notifications, its customers.",
    discussion: """
      Serves the App Store Server API with Apple's paths, bodies, errors and rate limits, and posts \
      notifications, on a virtual clock. The other commands act on it: buy, cancel, clock and so \
      on. Everything is in memory, and the same seed, start and actions give the same purchases. \
      Makes a signing authority and an API key in the directory when there are none, and prints to \
      standard output the settings of a server that uses them. The control interface has no \
      authentication: keep it on a loopback address.
      """)

  @Option(
    help: ArgumentHelp("Where to listen: host:port; port 0 takes a free one.", valueName: "address")
  )
  var listen = ListenArgument(host: "127.0.0.1", port: 7_190)

  @Option(
    help: ArgumentHelp(
      "Directory of the signing authority and the API key; created if it does not exist.",
      valueName: "directory"))
  var directory: String

  @Option(help: ArgumentHelp("Where notifications are posted to.", valueName: "url"))
  var notify: NotificationURL?

  @Option(help: "The environment, Sandbox or Production, in upper or lower case.")
  var environment: EnvironmentArgument = EnvironmentArgument(value: .sandbox)

  @Option(help: "Number of customers of all life cycles at the start.")
  var population = 0

  @Option(help: "The same seed gives the same purchases.")
  var seed: UInt64 = 1

  @Option(help: "The virtual time at the start: ISO 8601, or milliseconds since 1970.")
  var start: SimulatorMoment = .now

  @Option(help: "Whether time can be changed, or is the system's.")
  var clock = ClockKind.virtual

  @Option(help: "How fast virtual time runs: 1 as real time, 0 not at all.")
  var speed: Double?

  @Option(
    help: ArgumentHelp(
      "Real time that a month of 31 days takes, such as 5m: another way to give the speed.",
      valueName: "duration"))
  var month: TimeSpan?

  @Option(
    help: """
      What became of the population's notifications before the start: they are delivered now, were \
      missed, or were sent.
      """)
  var past = Simulation.Past.deliver

  @Option(help: "The billing grace period in days: 0, 3, 16 or 28.")
  var graceDays: Int64 = 16

  @Option(help: "Factor of Apple's rate limits.")
  var rateFactor = 1.0

  func validate() throws {
    guard (0...World.maximumCustomers).contains(population) else {
      throw ValidationError("--population takes 0 to \(World.maximumCustomers).")
    }
    guard [.sandbox, .production].contains(environment.value) else {
      throw ValidationError("--environment takes Sandbox or Production.")
    }
    guard speed == nil || month == nil else {
      throw ValidationError("--speed and --month exclude each other.")
    }
    guard clock == .virtual || (speed == nil && month == nil) else {
      throw ValidationError("--clock real has no speed.")
    }
    guard (0...StoreClock.maximumSpeed).contains(virtualSpeed) else {
      throw ValidationError("The speed is 0 to \(Int(StoreClock.maximumSpeed)).")
    }
    guard [0, 3, 16, 28].contains(graceDays) else {
      throw ValidationError("--grace-days takes 0, 3, 16 or 28.")
    }
    guard (0.000_001...1_000_000).contains(rateFactor) else {
      throw ValidationError("--rate-factor takes 0.000001 to 1000000.")
    }
  }

  private var virtualSpeed: Double {
    if let month { return 31 * Double(Milliseconds.dayLength) / Double(month.milliseconds) }
    return speed ?? 1
  }

  func run() async throws {
    let authority = try SigningAuthority.loadOrCreate(inDirectory: directory)
    let key = try StoreAPIKey.loadOrCreate(inDirectory: directory)
    let start = clock == .real ? SimulatorMoment.now.value : start.value
    var configuration = Simulation.Configuration(
      world: World.Configuration(
        seed: seed, environment: environment.value, start: start, population: population,
        graceDays: graceDays),
      speed: clock == .real ? nil : virtualSpeed)
    configuration.rateFactor = rateFactor
    configuration.past = past
    let sender = notify.map { NotificationSender(url: $0.url) }
    do {
      try await serve(configuration, authority, key, sender)
    } catch {
      await sender?.shutDown()
      throw error
    }
    await sender?.shutDown()
  }

  private func serve(
    _ configuration: Simulation.Configuration, _ authority: SigningAuthority, _ key: StoreAPIKey,
    _ sender: NotificationSender?
  ) async throws {
    let simulation = try Simulation(
      configuration, authority: authority, key: key, sender: sender,
      realTime: { SimulatorMoment.now.value })
    let listener: StoreListener
    do {
      listener = try await StoreListener.start(host: listen.host, port: listen.port) { request in
        await simulation.answer(request)
      }
    } catch {
      throw CommandFailure(.failed, "cannot listen on \(listen): \(error)")
    }
    let address = ListenArgument(host: listen.host, port: listener.port)
    let running = Task { try await simulation.run() }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { running.cancel() }
    var failure: (any Error)?
    do {
      try SimulatorOutput.print(
        settings(authority: authority, key: key, address: address))
      if !listen.isLoopback {
        StandardError.write(
          "other machines reach \(address), and the control interface has no authentication")
      }
      StandardError.write("listening on \(address)")
      try await running.value
    } catch is CancellationError {
      // The signal.
    } catch {
      failure = error
    }
    running.cancel()
    await listener.stop()
    interruption.end()
    if let failure { throw failure }
  }

  /// The settings of a server that uses this App Store, in the YAML of its settings file; and as a
  /// comment what other clients of the API must know.
  private func settings(
    authority: SigningAuthority, key: StoreAPIKey, address: ListenArgument
  ) -> String {
    let file = URL(filePath: directory).appending(path: key.fileName).standardizedFileURL.path
    let isProduction = environment.value == .production
    let root = "\(isProduction ? "production=" : "")\(authority.rootFingerprint)"
    let url = "http://\(address.reachable)"
    // A server that trusts a root for Production refuses a virtual time.
    let isFollowed = clock == .virtual && !isProduction
    let time =
      isFollowed
      ? """
      without_apple_roots: true
      development_clock: \(url)
      """
      : "# Its time is the system's: development_clock needs --clock virtual, and another environment "
        + "than Production."
    // Below the simulator's own rates, as the client is below Apple's.
    let factor = min(max(rateFactor * 0.8, 0.001), 10_000)
    let rate = rateFactor == 1 ? "" : "\n  rate_factor: \(factor)"
    return """
      # Settings of entitled, for the file of --config:
      trust_roots: ['\(root)']
      \(time)
      app_store_api: production=\(url)/production,sandbox=\(url)/sandbox
      app_store:
        keys:
          - issuer_id: \(key.issuerID)
            key_id: \(key.keyID)
            private_key_file: '\(file.replacing("'", with: "''"))'
            bundle_ids: [\(SimulatedApp.bundleID)]\(rate)
      # Other clients of the API have the same key, and the URL \(url)
      """
  }
}

enum ClockKind: String, CaseIterable, ExpressibleByArgument {
  case virtual
  case real
}

extension Simulation.Past: ExpressibleByArgument {}

/// A host and a port.
struct ListenArgument: ExpressibleByArgument, CustomStringConvertible {
  let host: String
  let port: Int

  init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  init?(argument: String) {
    guard case .tcp(let host, let port) = try? ServerAddress(parsing: argument) else { return nil }
    self.init(host: host, port: Int(port))
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool { ServerAddress.tcp(host: host, port: 0).isLoopback }

  /// The address for clients on this machine, also when it stands for all of its addresses.
  var reachable: ListenArgument {
    switch host {
    case "0.0.0.0": ListenArgument(host: "127.0.0.1", port: port)
    case "::": ListenArgument(host: "::1", port: port)
    default: self
    }
  }

  var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
  var defaultValueDescription: String { description }
}

/// An address of HTTP.
struct NotificationURL: ExpressibleByArgument {
  let url: String

  init?(argument: String) {
    guard let parts = URLComponents(string: argument), let host = parts.host, !host.isEmpty,
      parts.scheme == "http" || parts.scheme == "https"
    else { return nil }
    url = argument
  }
}

/// A length of time: a number and its unit, such as 90s, 5m, 12h, 31d or 2w.
struct TimeSpan: ExpressibleByArgument {
  let milliseconds: Int64

  private static let units: [Character: Int64] = [
    "s": Milliseconds.secondsLength, "m": 60 * Milliseconds.secondsLength,
    "h": Milliseconds.hourLength, "d": Milliseconds.dayLength, "w": 7 * Milliseconds.dayLength,
  ]

  init?(argument: String) {
    guard let letter = argument.last, let unit = Self.units[letter],
      let number = Int64(argument.dropLast()), number > 0
    else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow else { return nil }
    milliseconds = product
  }
}
