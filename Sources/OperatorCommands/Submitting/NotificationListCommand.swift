import ArgumentParser
import EntitlementDomain
import RPCClient
import Wire

struct NotificationListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the notifications that were received, newest first.",
    discussion: """
      Also those that are about no customer, such as TEST. A caller that may not use all apps has \
      to name an app and an environment, unless it may use only one app. With --output jsonl, \
      notifications are printed as they arrive.
      """)

  @Option(name: .app, help: "Only this app. Default: the context's, else all apps.")
  var bundleID: String?

  @Option(help: "Only this environment: \(EnvironmentName.list). Default: the context's, else all.")
  var environment: EnvironmentName?

  @Flag(help: "All apps, whatever the context says, with notifications that name none.")
  var allApps = false

  @Option(help: "Only this notificationType, as Apple writes it, such as TEST.")
  var type: String?

  @Option(help: "Received at this time or later: RFC 3339, or milliseconds since 1970.")
  var since: Moment?

  @Option(help: "Maximum number of notifications to print. Default: 100.")
  var limit: Int?

  @Flag(help: "Print all notifications.")
  var all = false

  @OptionGroup var server: ServerOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    if all, limit != nil { throw ValidationError("--limit and --all exclude each other") }
    if allApps, bundleID != nil {
      throw ValidationError("--bundle-id and --all-apps exclude each other")
    }
    for (name, text) in [("--bundle-id", bundleID), ("--type", type)] where text == "" {
      throw ValidationError("\(name) is empty")
    }
  }

  func run() async throws {
    let (bundleID, environment) = try await AppOptions.filter(
      bundleID, environment, allApps: allApps, on: server)
    let count = all ? Int.max : limit ?? ListNotificationsRequest.defaultPageSize
    let request = ListNotificationsRequest(
      bundleID: bundleID, environment: environment, notificationType: type,
      since: since?.milliseconds, pageSize: min(count, ListNotificationsRequest.largestPageSize))
    let notifications = try await server.withClient { client in
      var notifications: [ReceivedNotificationEntry] = []
      var printed = 0
      for try await notification in client.notifications(request) {
        if output.output == .jsonl {
          try output.write(notification) { _ in "" }
        } else {
          notifications.append(notification)
        }
        printed += 1
        if printed == count { break }
      }
      return notifications
    }
    if output.output != .jsonl { try output.write(notifications, table: NotificationTable.text) }
  }
}

/// Notifications as a table, one line each.
enum NotificationTable {
  static func text(of notifications: [ReceivedNotificationEntry]) -> String {
    var table = TextTable(
      header: ["RECEIVED", "SIGNED", "TYPE", "SUBTYPE", "APP", "CHAIN", "STATUS", "UUID"])
    for notification in notifications {
      table.add([
        notification.receivedAt.display, notification.signedDate?.display ?? "-",
        notification.notificationType, notification.subtype ?? "-",
        notification.scope?.display ?? "-", notification.originalTransactionID?.rawValue ?? "-",
        notification.status.map { "\($0)" } ?? "-", notification.notificationUUID.rawValue,
      ])
    }
    return table.text
  }
}
