import Dispatch
import Glibc

/// Runs an action at the first of the given signals. The second signal ends the process, as by
/// default.
package final class Interruption: Sendable {
  private let numbers: [CInt]
  /// Dispatch sources are thread-safe, but their protocol is not declared `Sendable`.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  /// Installs the handlers. Returns when they are active.
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
    // A signal before this point ends the process; after it, Dispatch catches the signal. If the
    // signals were ignored meanwhile, one could be lost.
    listening.wait()
  }

  /// Restores the default: signals end the process.
  package func end() {
    for source in sources { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }
}
