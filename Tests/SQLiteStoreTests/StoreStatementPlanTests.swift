import SQLiteStore
import TestSupport
import Testing

@Suite("How SQLite runs the store's statements")
struct StoreStatementPlanTests {
  @Test("No statement walks through a table that grows", arguments: StoreStatement.allCases)
  func usesIndexes(statement: StoreStatement) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore.open(at: folder.file("entitle.sqlite"))
    let plan = try await store.plan(of: statement)
    await store.close()
    for step in plan {
      #expect(!step.hasPrefix("SCAN"), "plan: \(plan)")
      #expect(!step.contains("AUTOMATIC"), "an index made for the statement: \(plan)")
      // All of an app is as good as all.
      #expect(!step.hasSuffix("(scope_id=?)"), "plan: \(plan)")
      // Pages come in the order of their index: sorting would read all that follows first.
      if statement.rawValue.contains("LIMIT") {
        #expect(!step.contains("TEMP B-TREE"), "plan: \(plan)")
      }
    }
    // A plain INSERT looks nothing up.
    if !statement.rawValue.hasPrefix("INSERT") { #expect(!plan.isEmpty) }
  }

  @Test(
    "Tokens and ids of app transactions are found by the parts that are in the index",
    arguments: [
      (.accountOfChainByToken, "facts_by_token"), (.unlinkedChainsByToken, "facts_by_token"),
      (.accountOfChainByAppTransaction, "facts_by_app_transaction"),
      (.unlinkedChainsByAppTransaction, "facts_by_app_transaction"),
      (.historyOfAppTransaction, "link_history_by_app_transaction"),
      (.appTransactionLinksOfAccount, "link_history_by_app_transaction"),
    ] as [(StoreStatement, String)])
  func usesParts(statement: StoreStatement, index: String) async throws {
    let folder = try TemporaryFolder()
    let store = try SQLiteStore.open(at: folder.file("entitle.sqlite"))
    let plan = try await store.plan(of: statement)
    await store.close()
    #expect(
      plan.contains { $0.hasSuffix("USING INDEX \(index) (scope_id=? AND <expr>=?)") },
      "plan: \(plan)")
  }
}
