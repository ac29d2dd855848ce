import ArgumentParser
import EntitlementDomain
import Glibc
import Programs
import RPCClient
import Wire

struct AppStoreTestNotificationCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test-notification",
    abstract: "Lets Apple send a test notification, and shows whether it arrived.",
    discussion: """
      Request a Test Notification: Apple posts one to the URL that App Store Connect has for the app and \
      environment, and the answer is a token. With --wait the command asks for its status until Apple has \
      tried to send it; --token asks for the status of an earlier one, for six months. An attempt with \
      SUCCESS proves URL, TLS and webhook. Exit code 2 when the attempt failed, when App Store Connect \
      has no URL (4040007), and with --token when Apple does not know the token or has not tried yet \
      (4040008). Without --environment: production.
      """)

  @Option(help: "Show the status of the notification with this token, and request none.")
  var token: String?

  @Flag(help: "Wait until Apple has tried to send it.")
  var wait = false

  @Option(help: "Reason, for the audit trail.")
  var reason: String?

  @OptionGroup var onBehalfOfOption: OnBehalfOfOption

  @Flag(help: "The server checks the key and the catalog, and requests nothing.")
  var dryRun = false

  @Flag(help: "Show the signed payload too.")
  var showSigned = false

  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if token == "" { throw ValidationError("--token is empty") }
    if reason == "" { throw ValidationError("--reason is empty") }
    if token != nil, dryRun { throw ValidationError("--token and --dry-run exclude each other") }
    if dryRun, wait { throw ValidationError("--dry-run and --wait exclude each other") }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    var token = token
    if token == nil {
      let request = RequestTestNotificationRequest(
        scope: scope, isDryRun: dryRun, onBehalfOf: onBehalfOfOption.name, reason: reason)
      let response = try await server.withClient { try await $0.requestTestNotification(request) }
      guard wait, let new = response.testNotificationToken else {
        return try output.write(response) { AppStoreDocument.details(of: $0, done: "requested") }
      }
      StandardError.write(TerminalText.escaped("requested; --token \(new)"))
      token = new
    }
    guard let token else { return }
    let request = GetTestNotificationRequest(
      scope: scope, testNotificationToken: token, includesSigned: showSigned)
    let waits = wait
    let asking = Task { [server] in try await Self.status(request, waits: waits, on: server) }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { asking.cancel() }
    defer { interruption.end() }
    let response = try await asking.value
    try output.write(document: try AppStoreDocument.json(response)) { _ in
      AppStoreDocument.table(of: response.notifications)
    }
    try AppStoreDocument.checkVerdicts(response.notifications.map(\.notification))
    let attempts = response.notifications.flatMap(\.attempts)
    guard attempts.contains(where: { $0.result == "SUCCESS" }) else {
      throw CommandFailure(.refused, "Apple could not deliver it")
    }
  }

  /// Apple tries within seconds, and answers a question a second.
  private static let interval = Duration.seconds(2)

  private static func status(
    _ request: GetTestNotificationRequest, waits: Bool, on server: ServerOptions
  ) async throws -> SentNotificationsResponse {
    try await server.withClient { client in
      while true {
        var pause = interval
        do throws(RPCClientError) {
          let response = try await client.testNotification(request)
          if !waits || response.notifications.contains(where: { !$0.attempts.isEmpty }) {
            return response
          }
        } catch {
          guard waits else { throw error }
          // Not known yet; or it was asked for too often, as in Sandbox every few seconds is.
          if error.errorInfo?.metadata["error_code"] != "4040008" {
            guard let wait = error.appStoreWait else { throw error }
            pause = max(pause, wait)
          }
        }
        do {
          try await Task.sleep(for: pause)
        } catch {
          throw CommandFailure(
            .failed, "stopped waiting; --token \(request.testNotificationToken) asks again")
        }
      }
    }
  }
}
