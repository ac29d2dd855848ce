package import EntitlementDomain
import Foundation

/// What a simulator says of its clock: `GET /control/clock`.
package struct ClockReading: Hashable, Sendable {
  package let now: Milliseconds
  /// Virtual milliseconds in a real one; 0: it stands still.
  package let speed: Double
  /// Grows with each change by hand.
  package let revision: Int

  package init(now: Milliseconds, speed: Double, revision: Int) {
    self.now = now
    self.speed = speed
    self.revision = revision
  }

  /// The moments that are accepted: those whose encoded length in answers is that of the present.
  package static let range = Milliseconds(31_536_000_000)...Milliseconds(4_102_444_800_000)
  /// The highest speed of a simulator.
  package static let maximumSpeed = 1_000_000.0

  private struct Answer: Decodable {
    let now: Int64
    let speed: Double
    let revision: Int
  }

  /// Reads the JSON of an answer.
  ///
  /// - Returns: nil if it is none of a simulator.
  init?(json: [UInt8]) {
    guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(json)),
      Self.range.contains(Milliseconds(answer.now)),
      (0...Self.maximumSpeed).contains(answer.speed)
    else { return nil }
    self.init(now: Milliseconds(answer.now), speed: answer.speed, revision: answer.revision)
  }
}
