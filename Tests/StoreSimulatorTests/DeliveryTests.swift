import EntitlementDomain
import StoreSimulator
import Testing

@Suite("Delivery to a server")
struct DeliveryTests {
  private static let events = [
    SignedEvent(
      at: 1, transactions: ["t1", "old1"], renewalInfo: "r1", appTransaction: "a1",
      notification: "n1"),
    SignedEvent(at: 2, transactions: ["t2"], renewalInfo: "r2", notification: "n2"),
    SignedEvent(at: 3, transactions: [], appTransaction: "a3"),
    SignedEvent(at: 4, transactions: ["t4"], notification: "n4"),
    SignedEvent(at: 5, transactions: ["t5"], notification: "n5"),
  ]

  @Test(
    "Every fact arrives, in the order of signing",
    arguments: [
      (
        .transactions,
        [.facts(["t1", "old1", "r1", "a1", "t2", "r2", "a3", "t4", "t5"])]
      ),
      (
        .notifications,
        [
          .notification("n1"), .facts(["old1", "a1"]), .notification("n2"), .facts(["a3"]),
          .notification("n4"), .notification("n5"),
        ]
      ),
      (
        .mixed,
        [
          .notification("n1"), .facts(["old1", "a1", "t2", "r2", "a3", "t4"]),
          .notification("n5"),
        ]
      ),
    ] as [(Delivery, [DeliveryStep])])
  func steps(delivery: Delivery, steps: [DeliveryStep]) {
    #expect(delivery.steps(for: Self.events, factsPerCall: 100) == steps)
  }

  @Test("No call has more facts than allowed")
  func limit() {
    let steps = Delivery.transactions.steps(for: Self.events, factsPerCall: 4)
    #expect(
      steps == [
        .facts(["t1", "old1", "r1", "a1"]), .facts(["t2", "r2", "a3", "t4"]), .facts(["t5"]),
      ])
  }

  @Test(
    "Facts that a notification does not carry are submitted as by the app",
    arguments: [
      (.transactions, [.facts(["t", "a2"])]),
      (
        .notifications,
        [.notification("test"), .notification("consent"), .facts(["t"]), .notification("token")]
      ),
      (.mixed, [.notification("test"), .facts(["t", "a2"]), .notification("token")]),
    ] as [(Delivery, [DeliveryStep])])
  func otherSubjects(delivery: Delivery, steps: [DeliveryStep]) {
    let events = [
      SignedEvent(at: 1, transactions: [], notification: "test"),
      SignedEvent(
        at: 2, transactions: ["t"], appTransaction: "a2", notification: "consent",
        notificationContents: .appTransaction),
      SignedEvent(at: 3, transactions: [], notification: "token", notificationContents: []),
    ]
    #expect(delivery.steps(for: events, factsPerCall: 100) == steps)
  }

  @Test("No events give no calls", arguments: Delivery.allCases)
  func nothing(delivery: Delivery) {
    #expect(delivery.steps(for: [], factsPerCall: 4).isEmpty)
  }
}
