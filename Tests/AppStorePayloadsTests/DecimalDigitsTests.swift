import AppStorePayloads
import TestSupport
import Testing

@Suite("Decimal digits")
struct DecimalDigitsTests {
  @Test func `numbers are written as by String`() {
    var random = SeededRandom(for: "decimal digits")
    var numbers: [Int64] = [.min, .min + 1, -1, 0, 1, .max]
    var power: Int64 = 1
    while power <= .max / 10 {
      power *= 10
      numbers += [power - 1, power, power + 1, -power, 1 - power, -1 - power]
    }
    for _ in 0..<20_000 {
      // Of all lengths.
      numbers.append(Int64(bitPattern: random.next()) >> Int64(random.next() % 64))
    }
    for number in numbers { #expect(DecimalDigits.text(number) == String(number)) }
  }
}
