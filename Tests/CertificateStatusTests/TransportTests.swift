import CertificateStatus
import EntitlementDomain
import Synchronization
import Testing
import Verification

@Suite("Questions over HTTP", .timeLimit(.minutes(5)))
struct TransportTests {
  /// A short time where no answer comes, and otherwise more than a busy machine takes.
  private static func limits(_ behaviour: RawServer.Behaviour) -> HTTPStatusLimits {
    switch behaviour {
    case .silent, .stallsAfter: HTTPStatusLimits(answerTime: .milliseconds(300))
    case .closed, .sends: HTTPStatusLimits(answerTime: .seconds(60))
    }
  }

  private static func answer(_ status: String, _ body: [UInt8]) -> [UInt8] {
    Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body
  }

  private static let endless: [UInt8] =
    Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    + (0..<80).flatMap { _ in Array("400\r\n".utf8) + [UInt8](repeating: 0x30, count: 1_024 + 2) }

  @Test(
    arguments: [
      ("closed", .closed, .unreachable), ("silent", .silent, .unreachable),
      ("status 500", .sends(answer("500 No", [])), .unreachable),
      ("status 204", .sends(answer("204 No", [])), .unreachable),
      ("nothing", .sends([]), .unreachable),
      ("not HTTP", .sends([UInt8](repeating: 0xff, count: 100)), .unreachable),
      ("stalls before the head", .stallsAfter(Array("HTTP/1.1 200 O".utf8)), .unreachable),
      (
        "stalls in the body",
        .stallsAfter(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".utf8)), .unreachable
      ),
      (
        "cut in the body",
        .sends(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc".utf8)), .unreachable
      ),
      (
        "too large by its word", .sends(answer("200 OK", [UInt8](repeating: 0x30, count: 65_537))),
        .unreachable
      ),
      ("too large as it comes", .stallsAfter(endless), .unreachable),
      ("garbage", .sends(answer("200 OK", Array("<html>".utf8))), .unusable),
      ("empty", .sends(answer("200 OK", [])), .unusable),
      ("tryLater", .sends(answer("200 OK", [0x30, 0x03, 0x0a, 0x01, 0x03])), .unusable),
      ("unauthorized", .sends(answer("200 OK", [0x30, 0x03, 0x0a, 0x01, 0x06])), .unusable),
    ] as [(String, RawServer.Behaviour, StatusEvent.Kind)])
  func `no usable answer passes softly and is to be retried strictly`(
    name: String, behaviour: RawServer.Behaviour, kind: StatusEvent.Kind
  ) async throws {
    let server = try RawServer(behaviour)
    let chain = try StatusAuthority().chain(serial: 11, address: server.address)
    for (policy, expected) in [
      (StatusPolicy.soft, Passing.passes), (.strict, .refused(.retryable)),
    ] {
      let events = Mutex<[StatusEvent]>([])
      let responder = HTTPStatusResponder(limits: Self.limits(behaviour))
      let checker = StatusChecker(policy: policy, responder: responder) { event in
        events.withLock { $0.append(event) }
      }
      #expect(Passing(await checker.check([chain], now: .systemNow)) == expected)
      let statistics = checker.statistics
      #expect(statistics.unreachable == (kind == .unreachable ? 1 : 0))
      #expect(statistics.unusable == (kind == .unusable ? 1 : 0))
      #expect(statistics.undecided == 1)
      // The intermediate certificate has no responder.
      #expect(Set(events.withLock { $0 }.map(\.kind)) == [kind, .withoutResponder])
      await responder.shutDown()
    }
    withExtendedLifetime(server) {}
  }

  @Test func `other addresses than http are not asked`() async throws {
    let responder = HTTPStatusResponder(limits: Self.limits(.silent))
    for address in [
      "https://127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd", "unix:/tmp/x", "", "http:",
      "http+unix://%2ftmp%2fx/", "http://", "http://\u{0}/", "http://exa mple/",
    ] {
      await #expect(throws: (any Error).self) {
        try await responder.answer(to: [0x30, 0x00], at: address)
      }
      let chain = try StatusAuthority().chain(serial: 11, address: address)
      let checker = StatusChecker(policy: .strict, responder: responder)
      #expect(Passing(await checker.check([chain], now: .systemNow)) == .refused(.retryable))
    }
    await responder.shutDown()
  }

  @Test func `after its end there are no answers, and no trap`() async throws {
    let server = try RawServer(.silent)
    let responder = HTTPStatusResponder()
    let pending = Task { try await responder.answer(to: [0x30, 0x00], at: server.address) }
    await responder.shutDown()
    await #expect(throws: (any Error).self) { try await pending.value }
    await #expect(throws: (any Error).self) {
      try await responder.answer(to: [0x30, 0x00], at: server.address)
    }
    await responder.shutDown()
    withExtendedLifetime(server) {}
  }
}
