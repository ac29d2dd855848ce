import AccessControl
import EntitlementDomain
import EntitlementService
import Framing
import NIOCore
import RPCClient
import RPCServer
import ServiceSupport
import StoreSimulator
import Testing
import TestSupport
import Wire

/// Every role, with every scope, calls every method.
@Suite("Who may call what")
struct AccessMatrixTests {
  /// The permissions of deploy/docs/access.md, written down again.
  static let roles: [String: Set<String>] = [
    "metrics": ["metrics"],
    "reader": ["read"],
    "submitter": ["read", "submit", "fetch"],
    "support": ["read", "list", "metrics"],
    "auditor": ["audit"],
    "operator": [
      "read", "list", "metrics", "submit", "link", "grant", "import", "export", "catalog", "jobs",
      "offers", "app_store", "fetch", "consumption",
    ],
    "admin": [
      "read", "list", "metrics", "submit", "link", "grant", "import", "export", "catalog", "jobs",
      "offers", "app_store", "fetch", "consumption", "erase", "audit", "credentials",
    ],
  ]

  /// Whether a scope contains the app of the requests, and every app.
  static let scopes: [(name: String, fields: String, hasApp: Bool, hasAll: Bool)] = [
    ("all", "", true, true),
    ("app", "apps: {\(SimulatedApp.bundleID): [Production, Sandbox]}", true, false),
    ("sandbox", "apps: {\(SimulatedApp.bundleID): [Sandbox]}", false, false),
    ("other", "apps: {com.example.other: [Production]}", false, false),
  ]

  /// The reason that the call is refused with; nil if it is not refused by access control.
  private func refusal(
    of method: MethodSample, with metadata: [(key: String, value: String)],
    on connection: RPCConnection
  ) async throws -> String? {
    do {
      if method.isStream {
        let stream = connection.serverStream(
          service: method.service, method: method.name, payload: method.payload,
          metadata: metadata)
        let reading = Task {
          var iterator = stream.makeAsyncIterator()
          _ = try await iterator.next()
        }
        // Frames are handled in order: a stream that is refused has been refused by now.
        _ = try await connection.call(
          service: ServiceNames.health, method: "Check", payload: ByteBuffer())
        reading.cancel()
        try await reading.value
      } else {
        _ = try await connection.call(
          service: method.service, method: method.name, payload: method.payload,
          metadata: metadata)
      }
      return nil
    } catch let error as RPCClientError {
      guard case .status(let code) = error.code,
        [.unauthenticated, .permissionDenied].contains(code)
      else { return nil }
      return "\(code.name) \(error.errorInfo?.reason ?? "")"
    }
  }

  @Test("Every role with every scope, without a credential and with a wrong one, for every method")
  func matrix() async throws {
    let methods = try MethodSample.all()
    let members = Self.roles.keys.sorted().flatMap { role in
      Self.scopes.map { scope in
        BenchAccess.Member(
          name: "\(role)-\(scope.name)", fields: "roles: [\(role)]\n\(scope.fields)")
      }
    }
    let access = try BenchAccess(members)
    // Refused credentials must not end the connections of this test.
    let limits = RPCLimits(brokenFrames: 100_000)
    try await ServiceBench.run(limits: limits, access: access) { bench async throws in
      let connection = try await RPCConnection.connect(to: RPCTarget(bench.addresses[0]))
      var checked = 0
      for method in methods {
        for member in members {
          let parts = member.name.split(separator: "-")
          let role = try #require(Self.roles[String(parts[0])])
          let scope = try #require(Self.scopes.first { $0.name == parts[1] })
          let isPermitted =
            role.contains(method.permission) || ["open", "identity"].contains(method.permission)
          let isInScope =
            switch method.subject {
            case .nothing: true
            case .otherBundle: scope.hasAll || scope.name == "other"
            case .app: scope.hasApp
            case .everything: scope.hasAll
            }
          let expected: String? =
            if !isPermitted {
              "PERMISSION_DENIED PERMISSION_MISSING"
            } else if !isInScope {
              "PERMISSION_DENIED APP_NOT_PERMITTED"
            } else {
              nil
            }
          #expect(
            try await refusal(of: method, with: member.metadata, on: connection) == expected,
            "\(method.name) by \(member.name)")
          checked += 1
        }
        let isOpen = method.permission == "open"
        #expect(
          try await refusal(of: method, with: [], on: connection)
            == (isOpen ? nil : "UNAUTHENTICATED CREDENTIAL_MISSING"), "\(method.name)")
        let wrong = [(key: "authorization", value: "Bearer \(AccessToken().text)")]
        #expect(
          try await refusal(of: method, with: wrong, on: connection)
            == (isOpen ? nil : "UNAUTHENTICATED CREDENTIAL_REFUSED"), "\(method.name)")
      }
      #expect(checked == methods.count * 28)
      await connection.close()
    }
  }

  @Test("The table has every method")
  func completeness() throws {
    let named = Set(try MethodSample.all().map { "\($0.service)/\($0.name)" })
    #expect(named == Set(WireMethods.permissions.keys))
  }

  @Test("The permission is checked before the request is decoded, and the scope before the store")
  func order() async throws {
    let reader = BenchAccess.Member(name: "r", fields: "roles: [reader]")
    let access = try BenchAccess([reader])
    try await ServiceBench.run(access: access) { bench async throws in
      let connection = try await RPCConnection.connect(to: RPCTarget(bench.addresses[0]))
      let malformed = MethodSample(
        name: "AddGrant", service: ServiceNames.admin, permission: "grant", subject: .app,
        payload: ByteBuffer(bytes: [0xff, 0xff]))
      #expect(
        try await refusal(of: malformed, with: reader.metadata, on: connection)
          == "PERMISSION_DENIED PERMISSION_MISSING")
      await connection.close()
    }
  }
}
