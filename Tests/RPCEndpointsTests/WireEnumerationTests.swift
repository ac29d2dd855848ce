import EntitlementStore
import Testing
import Verification
import Wire

/// `Wire` imports neither verification nor the store, and has its own enumerations. They are mapped
/// by their raw values, which must have the same meaning.
@Suite("Enumerations of Wire")
struct WireEnumerationTests {
  @Test("Every verdict has the same name and number on the wire", arguments: Verdict.allCases)
  func verdict(_ verdict: Verdict) throws {
    let onWire = try #require(SubmissionVerdict(rawValue: verdict.rawValue))
    #expect(String(describing: onWire) == String(describing: verdict))
  }

  @Test(
    "Every disposition has the same name and number on the wire",
    arguments: FactDisposition.allCases)
  func disposition(_ disposition: FactDisposition) throws {
    let onWire = try #require(SubmissionDisposition(rawValue: disposition.rawValue))
    #expect(String(describing: onWire) == String(describing: disposition))
  }

  @Test("Every kind of job has the same name and number on the wire")
  func jobKind() throws {
    expectSame(AppStoreJobKind.self, JobKind.self)
    expectSame(AppStoreJob.State.self, JobState.self)
    expectSame(ConsumptionRequest.State.self, ConsumptionState.self)
  }

  @Test("Every state of a row of an import and every failure is the same on the wire")
  func importRows() {
    expectSame(AccountImportRow.State.self, ImportRowState.self)
    expectSame(AccountImportRow.Reason.self, ImportFailure.self)
  }

  /// In both directions: requests name them too.
  private func expectSame<Stored, OnWire>(_ stored: Stored.Type, _ onWire: OnWire.Type)
  where
    Stored: RawRepresentable<Int> & CaseIterable, OnWire: RawRepresentable<Int> & CaseIterable
  {
    let names = stored.allCases.map { "\($0) \($0.rawValue)" }
    #expect(names == onWire.allCases.map { "\($0) \($0.rawValue)" })
  }

  @Test(
    "Every outcome for the owner has the same name and number on the wire",
    arguments: LinkOutcome.allCases)
  func linkOutcome(_ outcome: LinkOutcome) throws {
    let onWire = try #require(SubmissionLinkOutcome(rawValue: outcome.rawValue))
    #expect(String(describing: onWire) == String(describing: outcome))
  }
}
