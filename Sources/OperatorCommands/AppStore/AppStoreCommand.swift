import ArgumentParser
import EntitlementDomain
import Foundation
import Programs
import RPCClient
import Wire

struct AppStoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app-store",
    abstract: "Calls Apple's App Store Server API through the server, which has the keys.",
    discussion: """
      Questions show what Apple says now, after the server has verified it; nothing is stored without \
      --store. Changes ask for confirmation, can be tried with --dry-run, and are in the audit trail. \
      The server needs a key for the app, and its catalog must accept the environment. Exit codes: 0 \
      done, 1 failed (Apple cannot be reached, a rate is used up: try again later), 2 refused or not \
      found by Apple, no key, or a payload that failed verification, 3 server unreachable, 4 not \
      authorised: the permission is app_store. Errors have Apple's code and its name.
      """,
    subcommands: [
      AppStoreTransactionCommand.self, AppStoreHistoryCommand.self, AppStoreStatusesCommand.self,
      AppStoreRefundsCommand.self, AppStoreOrderCommand.self, AppStoreAppTransactionCommand.self,
      AppStoreNotificationsCommand.self, AppStoreTestNotificationCommand.self,
      AppStoreExtendCommand.self, AppStoreExtendMassCommand.self,
      AppStoreSetAccountTokenCommand.self, AppStoreFinishCommand.self,
    ])
}

/// The app and the environment of a call of Apple's.
struct AppStoreScopeOptions: ParsableArguments {
  @Option(
    name: [.customLong("app"), .customLong("bundle-id")],
    help: "The app. Default: the context's, else the only one that the server lets the caller use.")
  var app: String?

  @Option(help: "production or sandbox. Default: the context's; see the command for others.")
  var environment: EnvironmentName?

  func validate() throws {
    if app == "" { throw ValidationError("--app is empty") }
  }

  /// One environment: production where none is named.
  func scope(on server: ServerOptions) async throws -> AppScope {
    try await AppOptions.scope(app, environment, on: server)
  }

  /// The first environment, and whether Sandbox is the second one: where none is named.
  func scopes(on server: ServerOptions) async throws -> (AppScope, orSandbox: Bool) {
    let isNamed = try (environment ?? server.chosen().environment) != nil
    let scope = try await scope(on: server)
    return (scope, orSandbox: !isNamed && scope.environment == .production)
  }
}

extension RPCClientError {
  /// How long a command that waits for Apple must pause when a rate is used up; nil for other errors.
  var appStoreWait: Duration? {
    errorInfo?.reason == "APP_STORE_RATE_LIMITED" ? retryDelay : nil
  }
}

/// What is done with the payloads of an answer.
struct AppStorePayloadOptions: ParsableArguments {
  @Flag(help: "Show the signed payloads too, as Apple sent them.")
  var showSigned = false

  @Flag(
    help: "Let the server store what it verified, as if it were submitted. No account is named.")
  var store = false
}

/// How much of a list is shown.
struct AppStorePageOptions: ParsableArguments {
  /// Apple's page.
  static let defaultLimit = 20

  @Option(
    help: """
      Stop when so many are printed. Apple sends them by 20, so there may be up to 19 more. \
      Default: 20.
      """)
  var limit: Int?

  @Flag(help: "Print all. The server asks for page after page.")
  var all = false

  var count: Int { all ? .max : limit ?? Self.defaultLimit }

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if all, limit != nil { throw ValidationError("--limit and --all exclude each other") }
  }
}

/// What all changes have.
struct AppStoreChangeOptions: ParsableArguments {
  @Option(help: "Reason, for the audit trail.")
  var reason: String?

  @OptionGroup var onBehalfOfOption: OnBehalfOfOption

  @Flag(help: "The server checks the arguments, the key and the catalog, and changes nothing.")
  var dryRun = false

  @OptionGroup var confirmation: ConfirmationOptions

  var onBehalfOf: String? { onBehalfOfOption.name }

  func validate() throws {
    if reason == "" { throw ValidationError("--reason is empty") }
  }

  /// Asks, unless nothing would change.
  func confirm(_ question: String) throws {
    if !dryRun { try confirmation.confirm(question) }
  }
}

/// The extension of renewal dates.
struct AppStoreExtensionOptions: ParsableArguments {
  /// The id of a request that is about to be sent. A random one is printed: it is needed when no answer
  /// comes.
  func identifier(isDryRun: Bool) -> String {
    if let requestID { return requestID }
    let identifier = UUID().uuidString.lowercased()
    if !isDryRun { StandardError.write("requesting; --request-id \(identifier)") }
    return identifier
  }

  @Option(help: "By how many days, 1 to 90.")
  var days: Int?

  @Option(help: "Apple's reason: \(ExtensionReasonName.list). Default: undeclared.")
  var extendReason: ExtensionReasonName?

  @Option(
    help: """
      Names the request in Apple's notifications and in the audit trail, 1 to 128 characters. \
      Default: a random UUID.
      """)
  var requestID: String?

  func validate() throws {
    if let days, !(1...90).contains(days) { throw ValidationError("--days is 1 to 90") }
    if let requestID, !(1...128).contains(requestID.utf8.count) {
      throw ValidationError("--request-id has 1 to 128 characters")
    }
  }
}

/// Apple's reasons on the command line, in the order of their numbers.
enum ExtensionReasonName: String, ExpressibleByArgument, CaseIterable {
  case undeclared
  case customerSatisfaction = "customer-satisfaction"
  case other
  case serviceIssue = "service-issue"

  /// For help.
  static let list = "undeclared, customer-satisfaction, other or service-issue"

  /// Apple's number.
  var code: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
