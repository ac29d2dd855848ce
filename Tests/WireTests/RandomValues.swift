import EntitlementDomain
import TestSupport

extension AppScope {
  static func random(using generator: inout SeededRandom) -> AppScope {
    AppScope(
      bundleID: .random(using: &generator),
      environment: StoreEnvironment.allCases.randomElement(using: &generator)!)
  }
}

extension Milliseconds {
  static func random(using generator: inout SeededRandom) -> Milliseconds {
    Milliseconds(.random(in: .min ... .max, using: &generator))
  }
}

extension Identifier {
  static func random(using generator: inout SeededRandom) -> Identifier {
    Identifier(randomText(using: &generator))
  }
}

/// One to 40 characters of one to four bytes; never a NUL.
func randomText(using generator: inout SeededRandom) -> String {
  let alphabet = Array("aZ09._- éß中文🙂\u{1}\u{7f}\u{10ffff}".unicodeScalars)
  var text = String.UnicodeScalarView()
  for _ in 0...Int.random(in: 0..<40, using: &generator) {
    text.append(alphabet.randomElement(using: &generator)!)
  }
  return String(text)
}

func maybe<Value>(
  using generator: inout SeededRandom, _ make: (inout SeededRandom) -> Value
) -> Value? {
  Bool.random(using: &generator) ? make(&generator) : nil
}

func many<Value>(
  using generator: inout SeededRandom, _ make: (inout SeededRandom) -> Value
) -> [Value] {
  (0..<Int.random(in: 0..<4, using: &generator)).map { _ in make(&generator) }
}
