package import Wire

/// What a caller may do: a set of permissions.
package struct PermissionSet: OptionSet, Hashable, Sendable {
  package let rawValue: UInt64

  package init(rawValue: UInt64) {
    self.rawValue = rawValue
  }

  package init(_ permission: Permission) {
    rawValue = 1 << UInt64(permission.rawValue)
  }

  package init(_ permissions: some Sequence<Permission>) {
    self = permissions.reduce(into: []) { $0.insert(PermissionSet($1)) }
  }

  package static let all = PermissionSet(Permission.allCases)

  package func contains(_ permission: Permission) -> Bool {
    contains(PermissionSet(permission))
  }

  /// In the order of their numbers.
  package var permissions: [Permission] { Permission.allCases.filter { contains($0) } }
}

extension Permission {
  /// The name in files, in error texts and on command lines, such as `app_store`.
  package var name: String {
    switch self {
    case .open: "open"
    case .identity: "identity"
    case .read: "read"
    case .list: "list"
    case .submit: "submit"
    case .link: "link"
    case .grant: "grant"
    case .importArchives: "import"
    case .export: "export"
    case .erase: "erase"
    case .catalog: "catalog"
    case .metrics: "metrics"
    case .audit: "audit"
    case .credentials: "credentials"
    case .jobs: "jobs"
    case .offers: "offers"
    case .appStore: "app_store"
    case .fetch: "fetch"
    case .consumption: "consumption"
    }
  }

  /// Those that a file may name. The others need no name: every caller has them.
  package static var grantable: [Permission] {
    allCases.filter { $0 != .open && $0 != .identity }
  }

  package init?(name: some StringProtocol) {
    guard let found = Self.grantable.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

/// A named set of permissions. The raw values are the words of the file of credentials.
package enum Role: String, CaseIterable, Hashable, Sendable {
  /// Scrapes metrics.
  case metrics
  /// A backend that asks what customers may use.
  case reader
  /// A backend that also submits what the App Store signed.
  case submitter
  /// A person who answers customers: sees everything about one, and changes nothing.
  case support
  /// A person who checks who did what.
  case auditor
  /// A person who runs the service, and decides for customers.
  case `operator`
  /// Everything, also deleting customers and changing who may call.
  case admin

  package var permissions: PermissionSet {
    switch self {
    case .metrics: PermissionSet([.metrics])
    case .reader: PermissionSet([.read])
    case .submitter: PermissionSet([.read, .submit, .fetch])
    case .support: PermissionSet([.read, .list, .metrics])
    case .auditor: PermissionSet([.audit])
    case .operator:
      PermissionSet([
        .read, .list, .metrics, .submit, .link, .grant, .importArchives, .export, .catalog, .jobs,
        .offers, .appStore, .fetch, .consumption,
      ])
    case .admin: .all
    }
  }
}
