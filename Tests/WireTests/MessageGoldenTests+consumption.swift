import EntitlementDomain
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about consumption have the bytes that protoc gives them, and are read from them")
  func consumption() throws {
    try expect(
      SetConsumptionConsentRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlIAEqA2FkYTIGYSBmb3Jt")
    try expect(
      SetConsumptionConsentResponse(consent: .full, isChanged: true),
      "Ch8IARCA0JX/vDEaB2JhY2tlbmQiA2FkYSoGYSBmb3JtEAE=")
    try expect(
      GetConsumptionConsentRequest(scope: MessageSample.scope, accountID: "émile"),
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxl")
    try expect(
      GetConsumptionConsentResponse(consent: .full),
      "Ch8IARCA0JX/vDEaB2JhY2tlbmQiA2FkYSoGYSBmb3Jt")
    try expect(
      SetConsumptionPercentageRequest.full,
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoQMjAwMDAwMDAwMDAwMDAwMiCEzAIoAzIDYWRhOgXDqW1pcw==
      """)
    try expect(SetConsumptionPercentageResponse(isChanged: true), "CAE=")
    try expect(
      ListConsumptionRequestsRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhgDIhAyMDAwMDAwMDAwMDAwMDAyKOgHMgI0MQ==")
    try expect(
      ListConsumptionRequestsResponse(requests: [.full, .bare], nextPageToken: "8"),
      """
      CokBCAcSEmNvbS5leGFtcGxlLnNjcmliZRgCIhAyMDAwMDAwMDAwMDAwMDAyKiQzYzlhMTdkMi02NGJlLTRmMGItOWQxMS0w
      MDAwMDAwMDAwMDEyBU9USEVSOIDQlf+8MUCArOKTvTFIA1ALWg/DqW1pczogSFRUUCA0MDBgAmj70JX/vDFwhMwCeAEKCggB
      EgFhGAEiATISATg=
      """)
    try expect(
      SendConsumptionRequest.full,
      "ChJjb20uZXhhbXBsZS5zY3JpYmUQAhoQMjAwMDAwMDAwMDAwMDAwMiABKgNhZGEyCGEgdGlja2V0")
    try expect(
      SendConsumptionResponse(request: .bare, isChanged: true), "CgoIARIBYRgBIgEyEAE=")
  }
}
