import EntitlementStore
import SQLiteStore
import StoreConformance
import TestSupport
import Testing

@Suite("The embedded store does what every store does")
struct SQLiteStoreConformanceTests {
  // A store that never announces anything would be waited for without end.
  @Test("Conformance", .timeLimit(.minutes(10)), arguments: StoreConformanceSuite.cases)
  func conforms(to conformanceCase: ConformanceCase) async throws {
    let folder = try TemporaryFolder()
    try await conformanceCase.run(
      on: StoreHarness { try SQLiteStore.open(at: folder.file("entitle.sqlite")) })
  }

  @Test("The suite's names are distinct, so that a failure names one case")
  func namesAreDistinct() {
    let names = (StoreConformanceSuite.cases + StoreConformanceSuite.sharedCases).map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count > 150)
  }
}
