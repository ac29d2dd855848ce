import EntitlementDomain
import NIOCore
import Testing

@testable import Wire

/// The output of `protoc --encode` for the same messages in text form. Fails when a field number or
/// a type changes: published ones never change.
@Suite("Messages of another encoder")
struct MessageGoldenTests {
  @Test("A full state has the bytes that protoc gives it, and is read from them")
  func state() throws {
    let golden = try MessageBytes.base64(
      """
      CqwHChJjb20uZXhhbXBsZS5zY3JpYmUQAhoGw6ltaWxlICoogIzXlcgxMAI6AgMFQpUBCgNwcm8STAoQMjAwMDAwMD
      AwMDAwMDAwMhIQMjAwMDAwMDAwMDAwMDAwMRoWY29tLmV4YW1wbGUuc2NyaWJlLnBybyCA0JX/vDEogOCn5ssxQAIS
      LSCB0JX/vDEyJDdjOWU2Njc5LTc0MjUtNDBkZS05NDRiLWUwN2ZjMWY5MGFlNxIROg1wYWlkX2JlZm9yZV8yQANK2A
      IKFmNvbS5leGFtcGxlLnNjcmliZS5wcm8SCDIxNDAwMDAxGAEisQIIAhACGAMiFmNvbS5leGFtcGxlLnNjcmliZS5w
      cm8qG0F1dG8tUmVuZXdhYmxlIFN1YnNjcmlwdGlvbjIQMjAwMDAwMDAwMDAwMDAwMjoQMjAwMDAwMDAwMDAwMDAwMU
      CA0JX/vDFIgOCQ08YxUIDgp+bLMVgAYiEKGGNvbS5leGFtcGxlLnNjcmliZS5iYXNpYxCB4JDTxjFoAnIeCAQSCWNv
      bWUtYmFjaxoKRlJFRV9UUklBTCIDUDFNeg1GQU1JTFlfU0hBUkVEggEDRlJBigEaCIDkgNzAMRAAGg9SRUZVTkRfUF
      JPUkFURUSSAQsIAxAMGICopOCsMpgBgIC6u8guoAEDqgECAgOyAQgIAhIEc3RheboBCWNvbWUtYmFja7oBDGNvbWUt
      YmFjay3DqVLCAgoIMjE0MDAwMDESsQIIAhACGAMiFmNvbS5leGFtcGxlLnNjcmliZS5wcm8qG0F1dG8tUmVuZXdhYm
      xlIFN1YnNjcmlwdGlvbjIQMjAwMDAwMDAwMDAwMDAwMjoQMjAwMDAwMDAwMDAwMDAwMUCA0JX/vDFIgOCQ08YxUIDg
      p+bLMVgAYiEKGGNvbS5leGFtcGxlLnNjcmliZS5iYXNpYxCB4JDTxjFoAnIeCAQSCWNvbWUtYmFjaxoKRlJFRV9UUk
      lBTCIDUDFNeg1GQU1JTFlfU0hBUkVEggEDRlJBigEaCIDkgNzAMRAAGg9SRUZVTkRfUFJPUkFURUSSAQsIAxAMGICo
      pOCsMpgBgIC6u8guoAEDqgECAgOyAQgIAhIEc3RheboBCWNvbWUtYmFja7oBDGNvbWUtYmFjay3DqRgBIAFYgOCn5s
      sxYikKDXBhaWRfYmVmb3JlXzIQARgEIAEqEjcwNDAwMDAwMDAwMDAwMDAwMWITCg1wYWlkX2JlZm9yZV8zEAMYARgq
      """)
    let response = GetCustomerStateResponse.state(.full)
    #expect(try Array(response.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateResponse.decode(from: ByteBuffer(bytes: golden)) == response)
  }

  @Test("A read request has the bytes that protoc gives it, and is read from them")
  func readRequest() throws {
    let golden = try MessageBytes.base64(
      "CggKBsOpbWlsZRISY29tLmV4YW1wbGUuc2NyaWJlGAIiBAgCEAco+9CV/7wxMCk=")
    let request = GetCustomerStateRequest(
      customer: .account("émile"), scope: MessageSample.scope,
      consistency: .atLeastAsFresh(revision: 7), at: 1_700_000_000_123, ifRevisionDiffers: 41)
    #expect(try Array(request.encoded().readableBytesView) == golden)
    #expect(try GetCustomerStateRequest.decode(from: ByteBuffer(bytes: golden)) == request)
  }

  @Test("A submission has the bytes that protoc gives it, and is read from them")
  func submission() throws {
    let golden = try MessageBytes.base64(
      """
      ChJjb20uZXhhbXBsZS5zY3JpYmUSCWFjY291bnQtMRoMCgplMzAuZTMwLkFBGgwKCmUzMC5lMzEuQUI=
      """)
    let request = SubmitSignedTransactionsRequest(
      signedPayloads: ["e30.e30.AA", "e30.e31.AB"], bundleID: "com.example.scribe",
      accountID: "account-1")
    #expect(try Array(request.encoded().readableBytesView) == golden)
    #expect(
      try SubmitSignedTransactionsRequest.decode(from: ByteBuffer(bytes: golden)) == request)
  }

  @Test("Messages about health have the bytes that protoc gives them, and are read from them")
  func health() throws {
    try expect(
      HealthCheckRequest(service: "entitle.v1.EntitlementService"),
      "Ch1lbnRpdGxlLnYxLkVudGl0bGVtZW50U2VydmljZQ==")
    // The answer of a server with the public protocol only.
    try expect(HealthCheckResponse(status: .serving), "CAE=")
    try expect(HealthCheckResponse(status: .serving, version: "0.1.0"), "CAHCPgUwLjEuMA==")
    try expect(
      HealthCheckResponse(status: .serving, version: "0.1.0", needsCredentials: true),
      "CAHCPgUwLjEuMMg+AQ==")
    try expect(
      HealthCheckResponse(
        status: .serving, version: "0.1.0", needsCredentials: true,
        developmentClock: 1_772_366_400_123),
      "CAHCPgUwLjEuMMg+AdA++5SUysoz")
  }
}
