import ArgumentParser
import EntitlementDomain
import Glibc
import Programs
import RPCClient
import Wire

struct AppStoreExtendMassCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "extend-mass",
    abstract: "Extends the renewal dates of all subscribers of a product.",
    discussion: """
      Extend Subscription Renewal Dates for All Active Subscribers. It cannot be taken back. Apple does \
      the work in hours or days, and tells the outcome in notifications (RENEWAL_EXTENSION) and by \
      --status with the product and --request-id. --wait waits for the end, also while Apple or the \
      server fails or has no room; stderr shows the progress, and SIGINT ends the waiting with exit code 1 while Apple goes on. A second request with the same \
      --request-id changes nothing. Asks for confirmation; --yes skips the question. Apple takes one \
      request a second. Without --environment: production.
      """)

  @Argument(help: "The product.")
  var product: String

  @OptionGroup var renewal: AppStoreExtensionOptions

  @Option(
    help: "Only subscribers of this storefront: ISO 3166-1 alpha-3, such as USA. May be repeated.")
  var storefront: [String] = []

  @Flag(help: "Show how far an earlier request has come. Needs --request-id.")
  var status = false

  @Flag(help: "Wait until Apple has finished.")
  var wait = false

  @OptionGroup var change: AppStoreChangeOptions
  @OptionGroup var app: AppStoreScopeOptions
  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if status {
      guard renewal.requestID != nil else { throw ValidationError("--status needs --request-id") }
      guard renewal.days == nil, renewal.extendReason == nil, storefront.isEmpty, !change.dryRun
      else {
        throw ValidationError("--status takes the product and --request-id only")
      }
    } else if renewal.days == nil {
      throw ValidationError("--days is needed, or --status")
    }
    if change.dryRun, wait { throw ValidationError("--dry-run and --wait exclude each other") }
    let isCode = { (code: String) in
      code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }
    guard storefront.allSatisfy(isCode) else {
      throw ValidationError("--storefront has three capital letters, such as USA")
    }
    if storefront.count > ExtendAllRenewalsRequest.maximumStorefrontCountryCodes {
      throw ValidationError("--storefront is repeated too often")
    }
  }

  func run() async throws {
    let scope = try await app.scope(on: server)
    var identifier = renewal.requestID ?? ""
    if !status {
      let days = renewal.days ?? 0
      let places = storefront.isEmpty ? "everywhere" : "in " + storefront.joined(separator: ", ")
      try change.confirm(
        "Extend all subscriptions of \(product) of \(scope.display), \(places), by \(days) days? It "
          + "cannot be taken back.")
      identifier = renewal.identifier(isDryRun: change.dryRun)
      let request = ExtendAllRenewalsRequest(
        scope: scope, productID: ProductID(product), extendByDays: days,
        extendReasonCode: renewal.extendReason?.code ?? 0, requestIdentifier: identifier,
        storefrontCountryCodes: storefront, isDryRun: change.dryRun,
        onBehalfOf: change.onBehalfOf, reason: change.reason)
      let response = try await server.withClient { try await $0.extendAllRenewals(request) }
      guard wait else {
        return try output.write(response) { AppStoreDocument.details(of: $0, done: "requested") }
      }
      StandardError.write(TerminalText.escaped("requested; --request-id \(identifier)"))
    }
    let request = GetRenewalExtensionRequest(
      scope: scope, productID: ProductID(product), requestIdentifier: identifier)
    let waiting = wait ? Waiting(isNew: !status) : nil
    let asking = Task { [server] in try await Self.progress(request, waiting, on: server) }
    let interruption = Interruption(by: [SIGINT, SIGTERM]) { asking.cancel() }
    defer { interruption.end() }
    try output.write(try await asking.value) { AppStoreDocument.details(of: $0) }
  }

  /// Apple needs hours, and publishes no rate for this question.
  private static let interval = Duration.seconds(30)

  /// What the command waits through.
  private struct Waiting {
    /// Whether the request was made by this run: that Apple does not know it means "not yet" then.
    let isNew: Bool

    /// How long to wait after an error; nil for one that ends the waiting.
    func pause(after error: RPCClientError) -> Duration? {
      if let wait = error.appStoreWait { return wait }
      let isPassing =
        switch error.code {
        case .status(.unavailable), .status(.deadlineExceeded): true
        default:
          ["APP_STORE_RATE_LIMITED", "TOO_MANY_APP_STORE_CALLS"].contains(error.errorInfo?.reason)
            || isNew && error.errorInfo?.metadata["error_code"] == "4040009"
        }
      return isPassing ? AppStoreExtendMassCommand.interval : nil
    }
  }

  private static func progress(
    _ request: GetRenewalExtensionRequest, _ waiting: Waiting?, on server: ServerOptions
  ) async throws -> GetRenewalExtensionResponse {
    try await server.withClient { client in
      var shown: String?
      while true {
        var pause = interval
        do throws(RPCClientError) {
          let response = try await client.renewalExtension(request)
          guard waiting != nil, !response.isComplete else { return response }
          let line =
            "request \(request.requestIdentifier): \(response.succeeded ?? 0) extended, "
            + "\(response.failed ?? 0) not"
          if line != shown { StandardError.write(TerminalText.escaped(line)) }
          shown = line
        } catch {
          guard let wait = waiting?.pause(after: error) else { throw error }
          pause = wait
        }
        do {
          try await Task.sleep(for: pause)
        } catch {
          throw CommandFailure(
            .failed,
            "stopped waiting; Apple goes on: --status --request-id \(request.requestIdentifier)")
        }
      }
    }
  }
}
