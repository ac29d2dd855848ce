import EntitlementDomain
import NIOCore
import TestSupport
import Testing

@testable import Framing

@testable import Wire

@Suite("One entitlement, read from an encoded state")
struct EntitlementReadingTests {
  @Test("The result equals that of decoding the whole state, for random states")
  func random() throws {
    var generator = SeededRandom(for: "entitlement reading")
    var granted = 0
    for _ in 0..<300 {
      var state = CustomerState.random(using: &generator)
      // Ids are not empty, and are unique.
      state.entitlements = state.entitlements.enumerated().map { index, entitlement in
        EntitlementState(entitlementID: EntitlementID("e\(index)"), sources: entitlement.sources)
      }
      let encoded = try GetCustomerStateResponse.state(state).encoded()
      for index in 0...state.entitlements.count {
        let id = EntitlementID("e\(index)")
        let sources = state.entitlements.first { $0.entitlementID == id }?.sources ?? []
        let expected = CheckEntitlementResponse(
          isGranted: !sources.isEmpty, until: sources.first?.until,
          nextTransitionAt: state.nextTransitionAt, revision: state.revision)
        #expect(try CheckEntitlementResponse(of: id, readingEncoded: encoded) == expected)
        if expected.isGranted { granted += 1 }
      }
    }
    #expect(granted > 0)
  }

  @Test("Truncated answers, answers without a state, and other bytes are refused")
  func broken() throws {
    var generator = SeededRandom(for: "broken entitlement reading")
    let encoded = try GetCustomerStateResponse.state(.random(using: &generator)).encoded()
    // The state comes first, and is truncated with the message.
    let state = encoded.getSlice(at: 0, length: encoded.readableBytes - 11)!
    for length in 0..<state.readableBytes {
      let cut = state.getSlice(at: 0, length: length)!
      #expect(throws: WireError.self) {
        try CheckEntitlementResponse(of: "pro", readingEncoded: cut)
      }
    }
    let without = try GetCustomerStateResponse.notModified(revision: 9).encoded()
    #expect(throws: WireError.self) {
      try CheckEntitlementResponse(of: "pro", readingEncoded: without)
    }
    #expect(throws: WireError.self) {
      try CheckEntitlementResponse(of: "pro", readingEncoded: ByteBuffer(bytes: [0xFF, 0xFF]))
    }
  }
}
