import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

extension MessageValueTests {
  @Test("Unknown permissions and environments are left out", arguments: [0, 77, UInt64.max])
  func newerPermissions(number: UInt64) throws {
    let app = MessageBytes().field(1, text: "a").field(2, number: number).field(2, number: 2)
    let bytes = MessageBytes().field(1, text: "n").field(6, number: 3).field(6, number: number)
      .field(6, number: 17).field(8, message: app)
    let response = try WhoAmIResponse.decode(from: bytes.buffer)
    #expect(response.permissions == [.read, .appStore])
    // In Protos, 0 stands for Production.
    let environments: [StoreEnvironment] = number == 0 ? [.production, .sandbox] : [.sandbox]
    #expect(response.apps == [PermittedApp(bundleID: "a", environments: environments)])
    let caller = MessageBytes().field(1, text: "n").field(3, number: number).field(3, number: 4)
    let credentials = try CredentialsResponse.decode(
      from: MessageBytes().field(4, message: caller).buffer)
    #expect(credentials.callers.map(\.permissions) == [[.list]])
  }

  @Test("An unknown proof is read as absent")
  func newerProof() throws {
    let expected: [UInt64: CallerProof?] = [
      0: nil, 1: .token, 2: .certificate, 3: .user, 4: nil, .max: nil,
    ]
    for (number, proof) in expected {
      let bytes = MessageBytes().field(1, text: "n").field(2, number: number)
      #expect(try WhoAmIResponse.decode(from: bytes.buffer).proof == proof)
    }
  }

  @Test("A limit of 0 is not the same as none, and neither are an expiry at the epoch and none")
  func absentLimits() throws {
    let none = try CallerLimits.decode(from: ByteBuffer())
    #expect(none == CallerLimits())
    let zero = (1...5).reduce(MessageBytes()) { $0.field(UInt64($1), number: 0) }
    #expect(
      try CallerLimits.decode(from: zero.buffer)
        == CallerLimits(
          readsPerSecond: 0, expensiveReadsPerSecond: 0, submissionsPerSecond: 0, inFlight: 0,
          connections: 0))
    let bytes = MessageBytes().field(1, text: "n")
    #expect(try WhoAmIResponse.decode(from: bytes.buffer).tokenExpires == nil)
    #expect(try WhoAmIResponse.decode(from: bytes.field(4, number: 0).buffer).tokenExpires == 0)
  }
}

extension MessageLimitTests {
  @Test("256 bytes of the person for whom a caller reloads credentials are read, more are refused")
  func credentialsOnBehalfOf() throws {
    func decode(_ length: Int) throws -> ReloadCredentialsRequest {
      let request = ReloadCredentialsRequest(onBehalfOf: String(repeating: "o", count: length))
      return try ReloadCredentialsRequest.decode(from: request.encoded())
    }
    #expect(try decode(256).onBehalfOf?.count == 256)
    #expect(
      throws: MessageError(
        .tooLong(field: "on_behalf_of", limit: 256), in: "entitle.v1.ReloadCredentialsRequest")
    ) { try decode(257) }
  }
}
