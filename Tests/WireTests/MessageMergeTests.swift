import EntitlementDomain
import Framing
import NIOCore
import Testing

@testable import Wire

/// The comparison with Python's protobuf, of messages in several parts, is in
/// ``MessageJSONOracleTests``.
@Suite("A message field that occurs twice")
struct MessageMergeTests {
  private static let account = MessageBytes().field(1, text: "a")

  /// A request for `customer`, with fields after it.
  private static func request(_ customer: MessageBytes..., more: MessageBytes = MessageBytes())
    -> MessageBytes
  {
    customer.reduce(MessageBytes().field(2, text: "com.example.scribe")) {
      $0.field(1, message: $1)
    }.raw(more.bytes)
  }

  private static func consistency(_ parts: MessageBytes...) -> MessageBytes {
    request(account, more: parts.reduce(MessageBytes()) { $0.field(4, message: $1) })
  }

  private static let requests: [(MessageBytes, CustomerSelector, ReadConsistency)] = [
    (request(account, MessageBytes()), .account("a"), .minimizeLatency),
    (request(MessageBytes(), account), .account("a"), .minimizeLatency),
    (request(account, MessageBytes().field(1, text: "b")), .account("b"), .minimizeLatency),
    // Of a oneof the last member counts.
    (request(account, MessageBytes().field(3, text: "b")), .transaction("b"), .minimizeLatency),
    (
      request(account, MessageBytes().field(2, text: "b"), MessageBytes()),
      .originalTransaction("b"), .minimizeLatency
    ),
    (
      consistency(MessageBytes().field(1, number: 2), MessageBytes().field(2, number: 7)),
      .account("a"), .atLeastAsFresh(revision: 7)
    ),
    (
      consistency(
        MessageBytes().field(2, number: 6).field(1, number: 3),
        MessageBytes().field(1, number: 2).field(2, number: 7)),
      .account("a"), .atLeastAsFresh(revision: 7)
    ),
    // A value that is written counts, even if it is the default.
    (
      consistency(
        MessageBytes().field(1, number: 2).field(2, number: 7), MessageBytes().field(2, number: 0)),
      .account("a"), .atLeastAsFresh(revision: 0)
    ),
    (
      consistency(MessageBytes().field(1, number: 3), MessageBytes().field(1, number: 0)),
      .account("a"), .minimizeLatency
    ),
  ]

  @Test("The last value of a scalar counts, and the last member of a oneof", arguments: 0..<9)
  func lastValue(row: Int) throws {
    #expect(Self.requests.count == 9)
    let (bytes, customer, consistency) = Self.requests[row]
    let request = try GetCustomerStateRequest.decode(from: bytes.buffer)
    #expect(request.customer == customer)
    #expect(request.consistency == consistency)
    #expect(request.scope.bundleID == "com.example.scribe")
    // The reader of usual requests leaves it to the general one.
    #expect(bytes.buffer.withUnsafeReadableBytes { PlainRead(getCustomerState: $0) == nil })
  }

  @Test("What is missing or malformed in all parts together is refused")
  func refused() {
    let rows: [(MessageBytes, MessageFault)] = [
      (Self.request(MessageBytes(), MessageBytes()), .missing(field: "selector")),
      (
        Self.request(Self.account, MessageBytes().field(1, text: "")), .missing(field: "account_id")
      ),
      (Self.request(Self.account, MessageBytes().raw([0x80])), .truncated),
      (
        Self.request(Self.account, MessageBytes().field(1, bytes: [0xff])),
        .invalidText(field: "account_id")
      ),
    ]
    for (bytes, fault) in rows {
      let error = #expect(throws: MessageError.self) {
        try GetCustomerStateRequest.decode(from: bytes.buffer)
      }
      #expect(error?.fault == fault)
    }
  }

  @Test("A state that is cut into two messages at any field is read as one")
  func cutState() throws {
    let whole = GetCustomerStateResponse.state(.full)
    let state = try #require(try CustomerState.full.fields())
    #expect(state.count > 12)
    for cut in 0...state.count {
      let parts = [state[..<cut], state[cut...]].map { Array($0.joined()) }
      var bytes = MessageBytes().field(1, bytes: parts[0])
      bytes = bytes.field(3, number: UInt64(whole.revision)).field(1, bytes: parts[1])
      #expect(try GetCustomerStateResponse.decode(from: bytes.buffer) == whole, "cut at \(cut)")
    }
  }

  @Test("Messages in a oneof merge unless another member is between them")
  func messagesInOneof() throws {
    let grant = [
      MessageBytes().field(1, text: "7c9e6679-7425-40de-944b-e07fc1f90ae7")
        .field(2, text: "com.example.scribe").field(3, number: 1).field(4, text: "a")
        .field(5, text: "pro").field(6, number: 1).field(9, text: "ada").field(10, number: 1),
      MessageBytes().field(8, text: "a reason"),
    ]
    let notification = MessageBytes().field(1, text: "u").field(2, text: "TEST")
    func reason(_ entry: MessageBytes) throws -> String? {
      let bytes = MessageBytes().field(1, text: "a").field(2, message: entry)
      let response = try GetCustomerHistoryResponse.decode(from: bytes.buffer)
      guard case .grant(let grant) = response.entries.first?.occurrence else { return nil }
      return grant.reason
    }
    let start = MessageBytes().field(3, message: grant[1])
    #expect(try reason(start.field(3, message: grant[0])) == "a reason")
    #expect(
      try reason(start.field(5, message: notification).field(3, message: grant[0])) == "")
    #expect(
      try reason(start.field(3, message: grant[0]).field(5, message: notification)) == nil)
  }

  @Test("A message above the limit is refused if a message field occurs twice")
  func limit() throws {
    let limit = MessageLimits.largestMergedMessage
    #expect(limit == 512 * 1_024)
    let twice = Self.request(Self.account, Self.account)
    for (bytes, size, isRead) in [
      (twice, limit, true), (twice, limit + 1, false),
      (Self.request(Self.account), limit + 1, true),
    ] {
      // An unknown field: two bytes of a tag, and three of its length.
      let padding = [UInt8](repeating: 1, count: size - bytes.bytes.count - 5)
      let padded = bytes.field(1_000, bytes: padding).buffer
      #expect(padded.readableBytes == size)
      var fault: MessageFault?
      do throws(MessageError) {
        _ = try GetCustomerStateRequest.decode(from: padded)
      } catch {
        fault = error.fault
      }
      #expect(fault == (isRead ? nil : .arenaExhausted))
    }
  }
}

extension CustomerState {
  /// The encoded fields of the message, each with its tag.
  fileprivate func fields() throws -> [[UInt8]]? {
    let answer = try GetCustomerStateResponse.state(self).encoded()
    return answer.withUnsafeReadableBytes { bytes -> [[UInt8]]? in
      var outer = EnvelopeCursor(bytes, of: "GetCustomerStateResponse")
      guard let tag = try? outer.readTag(), let range = try? outer.readRange(tag) else {
        return nil
      }
      var cursor = outer.message(in: range, of: "CustomerState")
      var fields: [[UInt8]] = []
      while !cursor.isAtEnd {
        let start = cursor.offset
        guard let tag = try? cursor.readTag(), (try? cursor.skip(tag)) != nil else { return nil }
        fields.append(
          Array(bytes[range][(range.lowerBound + start)..<(range.lowerBound + cursor.offset)]))
      }
      return fields
    }
  }
}
