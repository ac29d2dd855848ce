import NIOCore
import Testing

@testable import Wire

extension MessageGoldenTests {
  @Test("Messages about callers have the bytes that protoc gives them, and are read from them")
  func callers() throws {
    try expect(WhoAmIRequest(), "")
    try expect(
      WhoAmIResponse.full,
      """
      CgdiaWxsaW5nEAEaCGszSmQ4c1F6IIC4qsi2NCoJc3VibWl0dGVyKgdzdXBwb3J0MgMBAxE4AUIYChJjb20uZXhhbXBs
      ZS5zY3JpYmUSAgECQgYKAWESAQNKDQiIJxAKGKwCIMgBKBA=
      """)
    try expect(GetCredentialsRequest(), "")
    try expect(
      ReloadCredentialsRequest(isDryRun: true, onBehalfOf: "émile"), "CAESBsOpbWlsZQ==")
    try expect(
      CredentialsResponse.full,
      """
      CAESCDlmODZkMDgxGIDQlf+8MSKUAQoHYmlsbGluZxIJc3VibWl0dGVyGgMDBRAqGAoSY29tLmV4YW1wbGUuc2NyaWJl
      EgIBAjIRCghrM0pkOHNRehCAuKrItjQyCgoIcDBMbTJ4WXc6HHNwaWZmZTovL2V4YW1wbGUuY29tL2JpbGxpbmc6F2Ru
      czpiaWxsaW5nLmV4YW1wbGUuY29tQgQxMDAxSgMgyAEiCAoEb3R0byABKhMQAxgFIgpjYWxsZXJzWzBdKgFtMlAIgdCV
      /7wxGgg2MDMwM2FlMiIkCAEQDBgFIg9jYWxsZXJzWzFdLm5hbWUqC25hbWVkIHR3aWNlKhd0aGUgZmlsZSBjYW5ub3Qg
      YmUgcmVhZA==
      """)
  }
}
