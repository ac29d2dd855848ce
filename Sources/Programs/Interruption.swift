import Dispatch
import Glibc

/// Runs an action at the first of some signals instead of ending the process. The second one ends
/// it, whatever it is about.
package final class Interruption: Sendable {
  private let numbers: [CInt]
  /// Sources are safe to use from any thread, which their protocol does not say.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  package init(by numbers: [CInt], _ action: @escaping @Sendable () -> Void) {
    self.numbers = numbers
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler {
        for number in numbers { signal(number, SIG_DFL) }
        action()
      }
      source.resume()
      return source
    }
  }

  /// Signals end the process again.
  package func end() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }
}
