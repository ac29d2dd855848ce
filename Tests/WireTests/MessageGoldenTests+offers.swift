import EntitlementDomain
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about offers have the bytes that protoc gives them, and are read from them")
  func offers() throws {
    try expect(
      GetOfferEligibilityRequest.full,
      "CggKBsOpbWlsZRISY29tLmV4YW1wbGUuc2NyaWJlGAIiHmNvbS5leGFtcGxlLnNjcmliZS5wcm8ubW9udGhseQ==")
    try expect(
      GetOfferEligibilityResponse.full,
      """
      CkwKHmNvbS5leGFtcGxlLnNjcmliZS5wcm8ubW9udGhseRgCIAEyA1I4NDofdGhlIGN1c3RvbWVyIG1heSBoYXZlIHRoZSBv
      ZmZlckABCmkKHmNvbS5leGFtcGxlLnNjcmliZS5wcm8ubW9udGhseRIKaGFsZi1wcmljZRgBKAgyA1I4MzondGhlIGN1c3Rv
      bWVyIGhhZCB0aGUgb2ZmZXIgdG9vIHJlY2VudGx5QAVIAlDgpJn/vDEKABAqGPvQlf+8MQ==
      """)
    try expect(
      SignPromotionalOfferRequest.full,
      """
      ChISEDIwMDAwMDAwMDAwMDAwMDESEmNvbS5leGFtcGxlLnNjcmliZRgCIh5jb20uZXhhbXBsZS5zY3JpYmUucHJvLm1vbnRo
      bHkqCmhhbGYtcHJpY2UwATokM2YxYzhhNTItOWYwZS00YjdkLThhNjctNWQyZTZjOTBiMWY0QhAyMDAwMDAwMDAwMDAwMDA3
      SgNhZGFSBcOpbWlz
      """)
    try expect(
      SignIntroductoryOfferEligibilityRequest.full,
      """
      ChQiEjcwNDAwMDAwMDAwMDAwMDAwMRISY29tLmV4YW1wbGUuc2NyaWJlGAIiHmNvbS5leGFtcGxlLnNjcmliZS5wcm8ubW9u
      dGhseSgDMhI3MDQwMDAwMDAwMDAwMDAwMDE6A2FkYUIFw6ltaXM=
      """)
    try expect(
      SignOfferResponse.full,
      """
      CghNRVVDSVE9PRIKQUJDMTIzREVGRxokM2YxYzhhNTItOWYwZS00YjdkLThhNjctNWQyZTZjOTBiMWY0IPvQlf+8MSj7iK+o
      vTEwATppCh5jb20uZXhhbXBsZS5zY3JpYmUucHJvLm1vbnRobHkSCmhhbGYtcHJpY2UYASgIMgNSODM6J3RoZSBjdXN0b21l
      ciBoYWQgdGhlIG9mZmVyIHRvbyByZWNlbnRseUAFSAJQ4KSZ/7wx
      """)
  }
}
