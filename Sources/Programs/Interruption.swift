import Dispatch
import Glibc

/// Runs an action at the first of some signals instead of ending the process. The second one ends
/// it, whatever it is about.
package final class Interruption: Sendable {
  private let numbers: [CInt]
  /// Sources are safe to use from any thread, which their protocol does not say.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  /// Returns when the signals are listened to.
  package init(by numbers: [CInt], _ action: @escaping @Sendable () -> Void) {
    self.numbers = numbers
    let listening = DispatchGroup()
    sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler {
        for number in numbers { signal(number, SIG_DFL) }
        action()
      }
      listening.enter()
      source.setRegistrationHandler { listening.leave() }
      source.resume()
      return source
    }
    // Until then a signal ends the process, and from then on Dispatch catches it. Were it ignored at
    // first, it would be lost.
    listening.wait()
  }

  /// Signals end the process again.
  package func end() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }
}
