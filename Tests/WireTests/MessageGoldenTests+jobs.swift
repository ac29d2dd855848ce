import EntitlementDomain
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about jobs have the bytes that protoc gives them, and are read from them")
  func jobs() throws {
    try expect(
      ListJobsRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgDIAEqEDIwMDAwMDAwMDAwMDAwMDEwBzjoB0ICNDE=")
    try expect(
      ListJobsResponse(
        jobs: [.refetch, .reconciliation, .consumption, .bare], nextPageToken: "8"),
      """
      CmEIBxABGhJjb20uZXhhbXBsZS5zY3JpYmUgAioQMjAwMDAwMDAwMDAwMDAwMTABOgIBA0CA0JX/vDFI+9CV/7wxUOCkmf+8
      MWACagrDqW1pczogNTAzgAEFiAEMkAEDmAEBCjUICBACGhJjb20uZXhhbXBsZS5zY3JpYmUgAjABQIDQlf+8MUiA0JX/vDFY
      AXAAeP/Plf+8MQpACAkQAxoSY29tLmV4YW1wbGUuc2NyaWJlIAIwAkCA0JX/vDFIgNCV/7wxgAEBogEQMjAwMDAwMDAwMDAw
      MDAwMgoHCAEaAWEgARIBOA==
      """)
    try expect(
      RetryJobRequest(jobID: 7, onBehalfOf: "ada", reason: "the key was renewed"),
      "CAcSA2FkYRoTdGhlIGtleSB3YXMgcmVuZXdlZA==")
    try expect(
      CancelJobRequest(jobID: 7, onBehalfOf: "ada", reason: "émis"), "CAcSA2FkYRoFw6ltaXM=")
    try expect(
      ReconcileNotificationsRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhiA0JX/vDEiA2FkYSoJYW4gb3V0YWdl")
    try expect(JobResponse(job: .bare, isChanged: true), "CgcIARoBYSABEAE=")
  }
}
