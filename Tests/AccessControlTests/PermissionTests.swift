import EntitlementDomain
import Foundation
import Testing
import Wire

@testable import AccessControl

@Suite("Permissions, roles and scopes")
struct PermissionTests {
  private static let table: [Role: [Permission]] = [
    .metrics: [.metrics],
    .reader: [.read],
    .submitter: [.read, .submit, .fetch],
    .support: [.read, .list, .metrics],
    .auditor: [.audit],
    .operator: [
      .read, .list, .submit, .link, .grant, .importArchives, .export, .catalog, .metrics, .jobs,
      .offers, .appStore, .fetch, .consumption,
    ],
    .admin: Permission.allCases,
  ]

  @Test("Each role has exactly its permissions", arguments: Role.allCases)
  func roles(role: Role) throws {
    let expected = try #require(Self.table[role])
    #expect(role.permissions.permissions == expected)
    for permission in Permission.allCases {
      #expect(role.permissions.contains(permission) == expected.contains(permission))
    }
  }

  @Test("Only admin may delete customers and see who may call")
  func dangerous() {
    for permission in [Permission.erase, .credentials] {
      #expect(Role.allCases.filter { $0.permissions.contains(permission) } == [.admin])
    }
    #expect(Role.admin.permissions == .all)
  }

  @Test("access.md has the roles with their permissions, and every permission that a file may name")
  func documentation() throws {
    let text = try String(
      contentsOf: URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "../../deploy/docs/access.md"), encoding: .utf8)
    let roles = try rows(of: "## Roles", in: text)
    #expect(roles.map { $0[0] } == Role.allCases.map { [$0.rawValue] })
    for row in roles {
      let role = try #require(row[0].first.flatMap { Role(rawValue: $0) })
      let named = row[1] == ["all"] ? Permission.grantable.map(\.name) : row[1]
      #expect(
        named == Permission.grantable.filter(role.permissions.contains).map(\.name), "\(role)")
    }
    let permissions = try rows(of: "## Permissions", in: text).map { $0[0][0] }
    #expect(permissions == Permission.allCases.map(\.name))
  }

  /// The rows of a section whose first cell is a name in backticks; of each cell the names in it.
  private func rows(of section: String, in text: String) throws -> [[[String]]] {
    let lines = text.split(separator: "\n").drop { $0 != section }.dropFirst()
    let rows = lines.prefix { !$0.hasPrefix("## ") }.filter { $0.hasPrefix("| `") }.map { line in
      line.split(separator: "|").map { cell in
        cell.split(whereSeparator: { " ,`".contains($0) }).map(String.init)
      }
    }
    try #require(!rows.isEmpty)
    return rows
  }

  @Test("Names of permissions are read back, except of those that every caller has")
  func names() {
    #expect(Set(Permission.allCases.map(\.name)).count == Permission.allCases.count)
    for permission in Permission.grantable {
      #expect(Permission(name: permission.name) == permission)
    }
    for name in ["open", "identity", "", "Read", "read ", "everything"] {
      #expect(Permission(name: name) == nil)
    }
    #expect(Permission.grantable.count == Permission.allCases.count - 2)
  }

  @Test("A set of permissions has what was put into it, in the order of their numbers")
  func sets() {
    #expect(PermissionSet().permissions == [])
    #expect(PermissionSet.all.permissions == Permission.allCases)
    #expect(PermissionSet([.submit, .read]).permissions == [.read, .submit])
    for permission in Permission.allCases {
      #expect(PermissionSet(permission).permissions == [permission])
    }
  }

  // MARK: Scopes

  private static let scopes = AppScopes([
    "com.example.scribe": [.production, .sandbox], "com.example.notes": [.sandbox],
  ])

  @Test(
    "A scope contains its apps, each in its environments",
    arguments: [
      ("com.example.scribe", true, true), ("com.example.notes", false, true),
      ("com.example.other", false, false), ("com.example.scrib", false, false),
      ("com.example.scribe2", false, false), ("com.example.Scribe", false, false),
      ("", false, false),
    ])
  func contents(app: String, production: Bool, sandbox: Bool) {
    let expected: [StoreEnvironment: Bool] = [.production: production, .sandbox: sandbox]
    for environment in StoreEnvironment.allCases {
      let isContained = expected[environment] ?? false
      let scope = AppScope(bundleID: BundleID(app), environment: environment)
      #expect(Self.scopes.contains(scope) == isContained)
      #expect(contains(app, environment, in: Self.scopes) == isContained)
      #expect(AppScopes.all.contains(scope))
      #expect(contains(app, environment, in: .all))
      #expect(!AppScopes([:]).contains(scope))
      #expect(!contains(app, environment, in: AppScopes([:])))
    }
    #expect(Self.scopes.contains(BundleID(app)) == (production || sandbox))
    #expect(AppScopes.all.contains(BundleID(app)))
  }

  private func contains(
    _ app: String, _ environment: StoreEnvironment, in scopes: AppScopes
  ) -> Bool {
    let scope = ConnectionScope(.all, scopes)
    return Array(app.utf8).withUnsafeBytes {
      scope.contains(bundleID: $0, environment: environment)
    }
  }

  @Test("A scope contains another one if it contains each of its apps and environments")
  func supersets() {
    let smaller: [AppScopes] = [
      AppScopes([:]), AppScopes(["com.example.notes": [.sandbox]]),
      AppScopes(["com.example.scribe": [.sandbox], "com.example.notes": [.sandbox]]), Self.scopes,
    ]
    for other in smaller {
      #expect(Self.scopes.contains(other))
      #expect(AppScopes.all.contains(other))
    }
    let larger: [AppScopes] = [
      .all, AppScopes(["com.example.notes": [.production]]),
      AppScopes(["com.example.notes": [.sandbox, .xcode]]),
      AppScopes(["com.example.scribe": [.sandbox], "com.example.other": [.sandbox]]),
    ]
    for other in larger { #expect(!Self.scopes.contains(other)) }
    #expect(AppScopes.all.contains(.all))
    #expect(AppScopes.all.isUnlimited && !Self.scopes.isUnlimited && !AppScopes([:]).isUnlimited)
  }
}
