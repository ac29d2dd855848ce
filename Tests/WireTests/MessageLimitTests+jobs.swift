import EntitlementDomain
import NIOCore
import Testing

@testable import Framing
@testable import Wire

extension MessageLimitTests {
  @Test("Filters of jobs have limits, and a value that is not known is not all of them")
  func jobFilters() {
    let cases: [(MessageBytes, MessageFault)] = [
      (MessageBytes().field(7, number: .max), .outOfRange(field: "page_size")),
      (MessageBytes().field(2, number: 77), .unknownValue(field: "environment")),
      (MessageBytes().field(3, number: 5), .unknownValue(field: "state")),
      (MessageBytes().field(4, number: .max), .unknownValue(field: "kind")),
      (
        MessageBytes().field(1, text: String(repeating: "b", count: 257)),
        .tooLong(field: "bundle_id", limit: 256)
      ),
      (
        MessageBytes().field(5, text: String(repeating: "2", count: 257)),
        .tooLong(field: "original_transaction_id", limit: 256)
      ),
      (
        MessageBytes().field(8, text: String(repeating: "t", count: 1_025)),
        .tooLong(field: "page_token", limit: 1_024)
      ),
    ]
    for (bytes, fault) in cases {
      #expect(throws: MessageError(fault, in: "entitle.v1.ListJobsRequest")) {
        try ListJobsRequest.decode(from: bytes.buffer)
      }
    }
  }

  @Test("Reasons and names of changes of jobs have the limits of all such texts")
  func jobChanges() throws {
    func text(_ count: Int) -> String { String(repeating: "t", count: count) }
    func expectLimits<Request: WireMessage & Equatable>(
      _ make: (_ onBehalfOf: String, _ reason: String) -> Request
    ) throws {
      let longest = make(text(256), text(1_024))
      #expect(try Request.decode(from: longest.encoded()) == longest)
      let cases: [(Request, MessageFault)] = [
        (make(text(257), "r"), .tooLong(field: "on_behalf_of", limit: 256)),
        (make("o", text(1_025)), .tooLong(field: "reason", limit: 1_024)),
      ]
      for (request, fault) in cases {
        #expect(throws: MessageError(fault, in: "entitle.v1.\(Request.self)")) {
          try Request.decode(from: request.encoded())
        }
      }
    }
    try expectLimits { RetryJobRequest(jobID: 1, onBehalfOf: $0, reason: $1) }
    try expectLimits { CancelJobRequest(jobID: 1, onBehalfOf: $0, reason: $1) }
    try expectLimits {
      ReconcileNotificationsRequest(
        scope: MessageSample.scope, since: 1, onBehalfOf: $0, reason: $1)
    }
  }

  @Test("A page of the largest size fits a frame")
  func jobPages() throws {
    var job = JobEntry.refetch
    job.reasons = RefetchReason.allCases
    job.lastFailure = String(repeating: "f", count: 1_024)
    let page = ListJobsResponse(
      jobs: [JobEntry](repeating: job, count: ListJobsRequest.largestPageSize),
      nextPageToken: "9")
    let encoded = try page.encoded()
    #expect(encoded.readableBytes < RPCLimits.maximumFrameData)
    #expect(try ListJobsResponse.decode(from: encoded) == page)
  }
}
