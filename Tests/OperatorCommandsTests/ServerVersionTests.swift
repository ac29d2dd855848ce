import EntitlementDomain
import Foundation
import Testing
import Wire

@testable import OperatorCommands

@Suite("The version of a server in tables")
struct ServerVersionTests {
  @Test func `health shows it after the status, if the server sends it`() throws {
    let old = HealthCommand.Answer(
      health: HealthCheckResponse(status: .notServing), server: nil)
    #expect(old.text == "NOT_SERVING")
    let new = HealthCommand.Answer(
      health: HealthCheckResponse(status: .serving, version: "1.2.3\u{1b}"), server: nil)
    #expect(new.text == "SERVING, version 1.2.3\\u{1b}")
    #expect(try json(new) == #"{"status":"SERVING","version":"1.2.3\u001b"}"#)
  }

  @Test func `health shows which server it is, if the server knows the method`() throws {
    let health = HealthCheckResponse(status: .serving, version: "1.2.3")
    let full = HealthCommand.Answer(
      health: health,
      server: GetServerResponse(
        version: "1.2.3", nodeName: "node\u{1b}", storeKind: .postgresql, catalogDigest: "00ff",
        warnings: ["one", "two"]))
    #expect(
      full.text == """
        SERVING, version 1.2.3
        node            node\\u{1b}
        store           POSTGRESQL
        catalog         00ff
        warning         one
        warning         two
        """)
    #expect(
      try json(full)
        == #"{"server":{"catalogDigest":"00ff","nodeName":"node\u001b","#
        + #""storeKind":"STORE_KIND_POSTGRESQL","version":"1.2.3","warnings":["one","two"]},"#
        + #""status":"SERVING","version":"1.2.3"}"#)
    let bare = HealthCommand.Answer(
      health: health, server: GetServerResponse(version: "1.2.3", nodeName: "n"))
    #expect(bare.text == "SERVING, version 1.2.3\nnode            n")
  }

  @Test func `health shows the virtual time of a server that follows one`() throws {
    let answer = HealthCommand.Answer(
      health: HealthCheckResponse(
        status: .serving, version: "1.2.3", developmentClock: 1_772_366_400_123),
      server: GetServerResponse(version: "1.2.3", nodeName: "n"))
    #expect(
      answer.text == """
        SERVING, version 1.2.3
        virtual time    2026-03-01 12:00:00Z
        node            n
        """)
    #expect(
      try json(answer)
        == #"{"developmentClockMs":"1772366400123","server":{"nodeName":"n","version":"1.2.3"},"#
        + #""status":"SERVING","version":"1.2.3"}"#)
  }

  private func json(_ answer: HealthCommand.Answer) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(try answer.document), as: UTF8.self)
  }

  @Test func `statistics show it before the counters, if the server sends it`() {
    let counters = [StatisticsCounter(name: "grants.added", value: 12)]
    let old = GetStatisticsResponse(counters: counters)
    #expect(
      StatisticsCommand.table(of: old) == """
        NAME          VALUE
        grants.added  12
        """)
    let new = GetStatisticsResponse(counters: counters, version: "1.2.3")
    #expect(
      StatisticsCommand.table(of: new) == """
        NAME          VALUE
        version       1.2.3
        grants.added  12
        """)
  }
}
