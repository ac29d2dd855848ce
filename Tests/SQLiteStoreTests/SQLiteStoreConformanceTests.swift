import EntitlementStore
import SQLiteStore
import StoreConformance
import Testing
import TestSupport

@Suite("The embedded store does what every store does")
struct SQLiteStoreConformanceTests {
  @Test("Conformance", arguments: StoreConformanceSuite.cases)
  func conforms(to conformanceCase: ConformanceCase) async throws {
    let folder = try TemporaryFolder()
    try await conformanceCase.run(
      on: StoreHarness { try SQLiteStore.open(at: folder.file("entitle.sqlite")) })
  }

  @Test("The suite's names are distinct, so that a failure names one case")
  func namesAreDistinct() {
    let names = StoreConformanceSuite.cases.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.count > 40)
  }
}
