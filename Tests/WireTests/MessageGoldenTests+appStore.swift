import EntitlementDomain
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Questions to the App Store have the bytes that protoc gives them, and are read from them")
  func appStoreQuestions() throws {
    try expect(
      GetTransactionRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgBIhAyMDAwMDAwMDAwMDAwMDAxKAEwAQ==")
    try expect(
      ListTransactionsRequest.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgBIhAyMDAwMDAwMDAwMDAwMDAxKIDQlf+8MTAAOgtwcm8ubW9udGhseToGc2Vhc29u
      Qg5BVVRPX1JFTkVXQUJMRUoIMjEwMDAwMDFSCVBVUkNIQVNFRFgBYABqAnIxcMgBeAGAAQE=
      """)
    try expect(
      GetSubscriptionStatusesRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgBIhAyMDAwMDAwMDAwMDAwMDAxKgIBBTABOAE=")
    try expect(
      ListSentNotificationsRequest.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhiA0JX/vDEgACoQMjAwMDAwMDAwMDAwMDAwMTIJRElEX1JFTkVXOhBCSUxMSU5HX1JF
      Q09WRVJZQAFKAzUgdFDIAVgBYAE=
      """)
    try expect(
      GetCustomerStateRequest(
        customer: .transaction("2"), scope: MessageSample.barest, fetchesIfUnknown: true),
      "CgMaATISAWEYAUAB")
  }

  @Test("Changes at the App Store have the bytes that protoc gives them, and are read from them")
  func appStoreChanges() throws {
    try expect(
      ExtendRenewalRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoQMjAwMDAwMDAwMDAwMDAwMSBaKAMyBcOpbWlzOAFCA2FkYUoJYW4gb3V0YWdl"
    )
    try expect(
      ExtendAllRenewalsRequest.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoLcHJvLm1vbnRobHkgWigDMgFyOgNVU0E6A0RFVUABSgNhZGFSCWFuIG91dGFnZQ==
      """)
    try expect(
      AppStoreChangeResponse.full, "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgBIgF0KgFyMAA4AkICAgY=")
    try expect(
      GetRenewalExtensionResponse.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoLcHJvLm1vbnRobHkiAXIoATD70JX/vDE4AEAH")
  }

  @Test("Answers of the App Store have the bytes that protoc gives them, and are read from them")
  func appStoreAnswers() throws {
    try expect(
      AppStorePayloadsResponse.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoZCAEYASICe30qBWEuYi5jOggIARgBIAE4ARoLCAUSBcOpbWlzMAEiAnIyKAEwAA==
      """)
    try expect(
      GetSubscriptionStatusesResponse.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhpGCggyMTAwMDAwMRIQMjAwMDAwMDAwMDAwMDAwMRgEIhkIARgBIgJ7fSoFYS5iLmM6
      CAgBGAEgATgBKgsIBRIFw6ltaXMwAQ==
      """)
    try expect(
      SentNotificationsResponse.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhpAChkIARgBIgJ7fSoFYS5iLmM6CAgBGAEgATgBEgsIBRIFw6ltaXMwARoSCPvQlf+8
      MRIJVElNRURfT1VUIgIIASIDNSB0
      """)
  }
}
