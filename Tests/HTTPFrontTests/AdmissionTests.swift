import AccessControl
import Framing
import HTTPFront
import NIOCore
import RPCServer
import ServiceSupport
import StoreSimulator
import TestSupport
import Testing
import Wire

/// What a request costs the server before it is refused.
@Suite("What refused requests by HTTP cost")
struct AdmissionTests {
  private static let service = "entitle.v1.EntitlementService"
  private static let path = "/\(service)/BatchGetCustomerState"
  private static let state = """
    {"customer":{"accountId":"a"},"bundleId":"\(SimulatedApp.bundleID)",\
    "environment":"STORE_ENVIRONMENT_PRODUCTION"}
    """

  /// As many customers, each an empty object: three bytes that cost a message each.
  private static func customers(_ count: Int) -> [UInt8] {
    Array("{\"customers\":[\(repeatElement("{}", count: count).joined(separator: ","))]}".utf8)
  }

  /// A valid request of this length.
  private static func padded(_ length: Int) -> [UInt8] {
    Array(state.utf8) + [UInt8](repeating: 0x20, count: length - state.utf8.count)
  }

  private static func fields(_ member: BenchAccess.Member) -> [(String, String)] {
    member.metadata.map { ($0.key, $0.value) }
  }

  private static func reader(_ limits: String) -> BenchAccess.Member {
    BenchAccess.Member(name: "reader", fields: "roles: [reader]\nlimits: {\(limits)}")
  }

  @Test("Nothing is converted for a caller who is not known, and nothing of a long body is kept")
  func unknown() async throws {
    let access = try BenchAccess([])
    let limits = HTTPFrontLimits(unfinishedBodies: 100_000)
    try await HTTPBench.run(access: access, frontLimits: limits) { bench async throws in
      let wrong = [("authorization", "Bearer \(AccessToken().text)")]
      for body in [Self.customers(3), Self.customers(21_000)] {
        for fields in [[], wrong] {
          let response = try bench.post(
            Self.service, "BatchGetCustomerState", body, fields)
          #expect(response.status == 401)
          #expect(response.member("code") == "unauthenticated")
        }
      }
      #expect(bench.service.server.statistics.conversions == 0)

      // More bodies that never end than all the memory for bodies.
      let holders = try (0..<8).map { _ in try HTTPSocket(bench.api) }
      for holder in holders {
        try holder.send(
          "POST \(Self.path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            + "content-length: 65000\r\n\r\n")
        try holder.send([UInt8](repeating: 0x20, count: 64_000))
      }
      let known = Self.fields(access.admin)
      let answer = try bench.post(Self.service, "GetCustomerState", Self.padded(60_000), known)
      #expect(answer.status == 200, "\(answer.text)")
      #expect(bench.service.server.statistics.conversions == 1)
      for holder in holders {
        try holder.send([UInt8](repeating: 0x20, count: 1_000))
        #expect(try holder.response().status == 401)
      }
      #expect(bench.front.statistics.bodyBytes == 0)
      #expect(bench.service.server.statistics.conversions == 1)
    }
  }

  @Test("Permission, calls in flight and the rate are asked before a body is converted")
  func refusedBefore() async throws {
    let busy = Self.reader("in_flight: 1")
    let slow = BenchAccess.Member(
      name: "slow", fields: "roles: [reader]\nlimits: {reads_per_second: 1}")
    let access = try BenchAccess([busy, slow])
    try await HTTPBench.run(access: access) { bench async throws in
      func conversions() -> Int { bench.service.server.statistics.conversions }
      let long = Self.customers(21_000)
      let denied = try bench.post(
        "entitle.v1.AdminService", "GetStatistics", long, Self.fields(busy))
      #expect(denied.member("code") == "permission_denied")
      #expect(conversions() == 0)

      // A watch is a call in flight.
      let watch = try HTTPSocket(bench.api)
      try watch.request(
        "POST", "/\(Self.service)/WatchCustomerStates",
        [("content-type", "application/connect+json")] + Self.fields(busy),
        enveloped(
          Array(
            """
            {"bundleId":"\(SimulatedApp.bundleID)","environment":"STORE_ENVIRONMENT_PRODUCTION"}
            """.utf8)))
      _ = try watch.head()
      #expect(conversions() == 1)
      for body in [long, Array(Self.state.utf8)] {
        let refused = try bench.post(
          Self.service, "GetCustomerState", body, Self.fields(busy))
        #expect(refused.status == 429)
        #expect(refused.member("message")?.contains("too many calls") == true)
      }
      #expect(conversions() == 1)

      // Two MiB are 32 reads of one a second.
      let costly = try bench.post(
        Self.service, "GetCustomerState", Self.padded(2_097_152), Self.fields(slow))
      #expect(costly.status == 200)
      #expect(conversions() == 2)
      let refused = try bench.post(
        Self.service, "BatchGetCustomerState", long, Self.fields(slow))
      #expect(refused.status == 429)
      #expect(refused.member("message")?.contains("rate") == true)
      #expect(conversions() == 2)
    }
  }

  @Test("A body for which there is no memory is not converted")
  func memory() async throws {
    try await HTTPBench.run(limits: RPCLimits(memory: 1_048_576)) { bench async throws in
      let refused = try bench.post(Self.service, "GetCustomerState", Self.padded(300_000))
      #expect(refused.status == 429)
      #expect(refused.member("message")?.contains("memory") == true)
      #expect(bench.service.server.statistics.conversions == 0)
      #expect(try bench.post(Self.service, "GetCustomerState", Self.padded(2_000)).status == 200)
      #expect(bench.service.server.statistics.conversions == 1)
    }
  }

  @Test("A request has a limit of values, which is found while it is read")
  func values() async throws {
    try await HTTPBench.run { bench async throws in
      let refused = try bench.post(
        Self.service, "BatchGetCustomerState", Self.customers(MessageJSONLimits.requestValues))
      #expect(refused.status == 400)
      #expect(refused.member("message")?.contains("more than 16384 values") == true)
      let many = try bench.post(Self.service, "BatchGetCustomerState", Self.customers(257))
      #expect(many.member("code") == "invalid_argument")
      // The longest import that is allowed.
      let rows = (1...500).map {
        #"{"row":\#($0),"accountId":"a","transactionId":"1","appAccountToken":"","environment":1}"#
      }
      let longest = try bench.post(
        "entitle.v1.MigrationService", "ImportAccounts",
        Array(#"{"importId":"i","bundleId":"b","rows":[\#(rows.joined(separator: ","))]}"#.utf8))
      #expect(longest.member("message")?.contains("values") == false, "\(longest.text)")
    }
  }

  @Test("A caller's unfinished bodies leave as much memory as they take")
  func shares() async throws {
    let first = Self.reader("in_flight: 100")
    let second = BenchAccess.Member(name: "second", fields: "roles: [reader]")
    let limits = HTTPFrontLimits(unfinishedBodies: 200_000)
    try await HTTPBench.run(access: try BenchAccess([first, second]), frontLimits: limits) {
      bench async throws in
      func begin() throws -> HTTPSocket {
        let socket = try HTTPSocket(bench.api)
        let token = first.metadata[0].value
        try socket.send(
          "POST \(Self.path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
            + "authorization: \(token)\r\ncontent-length: 4000000\r\n\r\n")
        try socket.send([UInt8](repeating: 0x20, count: 60_000))
        return socket
      }
      let held = 60_000 - HTTPFrontLimits().uncountedBody
      let holders = [try begin(), try begin()]
      try await eventually { bench.front.statistics.bodyBytes == 2 * held }
      #expect(try begin().response().status == 503)
      let other = try bench.post(
        Self.service, "GetCustomerState", Self.padded(60_000), Self.fields(second))
      #expect(other.status == 200, "\(other.text)")
      for holder in holders { holder.closeOutput() }
      try await eventually { bench.front.statistics.bodyBytes == 0 }
    }
  }

  @Test("A cached read by JSON is answered from memory, and counts as one read")
  func cached() async throws {
    let reader = Self.reader("reads_per_second: 2")
    try await HTTPBench.run(access: try BenchAccess([reader])) { bench async throws in
      let socket = try HTTPSocket(bench.api)
      var statuses: [Int] = []
      // At most as many as tokens, if the machine is so slow that they are refilled.
      while statuses.last != 429, statuses.count < 1_000 {
        try socket.request(
          "POST", "/\(Self.service)/GetCustomerState",
          [("content-type", "application/json")] + Self.fields(reader), Array(Self.state.utf8))
        statuses.append(try socket.response().status)
      }
      #expect(statuses.prefix(2) == [200, 200])
      #expect(statuses.last == 429)
    }
  }
}
