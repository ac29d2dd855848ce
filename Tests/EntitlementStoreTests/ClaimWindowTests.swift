import EntitlementDomain
import Testing

@Suite("Claim windows")
struct ClaimWindowTests {
  private static let hour = Milliseconds.hourLength

  @Test("R44: a window ends 24 hours after its first claim, whatever the time of the last one")
  func length() {
    var window = ClaimWindow()
    #expect(window.allowsClaim(at: 0, limit: 1))
    window.countClaim(at: 0)
    window.countClaim(at: Milliseconds(23 * Self.hour))
    #expect(window == ClaimWindow(count: 2, since: 0))
    #expect(!window.allowsClaim(at: Milliseconds(24 * Self.hour - 1), limit: 2))
    #expect(window.allowsClaim(at: Milliseconds(24 * Self.hour - 1), limit: 3))
    #expect(window.allowsClaim(at: Milliseconds(24 * Self.hour), limit: 1))
    window.countClaim(at: Milliseconds(24 * Self.hour))
    #expect(window == ClaimWindow(count: 1, since: Milliseconds(24 * Self.hour)))
  }

  @Test("R44: a clock that goes back a little starts no window; one that was days ahead does")
  func clocks() {
    var window = ClaimWindow(count: 1, since: Milliseconds(48 * Self.hour))
    #expect(!window.allowsClaim(at: Milliseconds(47 * Self.hour), limit: 1))
    #expect(window.allowsClaim(at: Milliseconds(24 * Self.hour), limit: 1))
    window.countClaim(at: Milliseconds(24 * Self.hour))
    #expect(window == ClaimWindow(count: 1, since: Milliseconds(24 * Self.hour)))
  }

  @Test("R44: the sum of two windows starts at the first claim; an ended one adds nothing")
  func sum() {
    let noon = Milliseconds(12 * Self.hour)
    let rows: [(ClaimWindow, ClaimWindow, ClaimWindow)] = [
      (ClaimWindow(), ClaimWindow(), ClaimWindow()),
      (ClaimWindow(), ClaimWindow(count: 2, since: 5), ClaimWindow(count: 2, since: 5)),
      (ClaimWindow(count: 2, since: 5), ClaimWindow(), ClaimWindow(count: 2, since: 5)),
      (
        ClaimWindow(count: 2, since: 5), ClaimWindow(count: 3, since: 4),
        ClaimWindow(count: 5, since: 4)
      ),
      (
        ClaimWindow(count: 2, since: Milliseconds(-13 * Self.hour)),
        ClaimWindow(count: 3, since: 4), ClaimWindow(count: 3, since: 4)
      ),
      (
        ClaimWindow(count: 3, since: 4),
        ClaimWindow(count: 2, since: Milliseconds(-13 * Self.hour)),
        ClaimWindow(count: 3, since: 4)
      ),
    ]
    for (left, right, both) in rows {
      var window = left
      window.add(right, at: noon)
      #expect(window == both)
    }
  }

  @Test("The minimum and maximum time do not overflow")
  func extremes() {
    let last = ClaimWindow(count: 1, since: Milliseconds(.max))
    #expect(last.allowsClaim(at: Milliseconds(.min), limit: 1))
    let first = ClaimWindow(count: 1, since: Milliseconds(.min))
    #expect(first.allowsClaim(at: Milliseconds(.max), limit: 1))
  }
}
