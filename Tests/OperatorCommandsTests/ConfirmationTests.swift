import Testing

@testable import OperatorCommands

@Suite("A confirmation")
struct ConfirmationTests {
  @Test(
    "Only y and yes confirm",
    arguments: [
      ("y", true), ("yes", true), (" Yes ", true), ("Y", true), ("", false), ("n", false),
      ("no", false), ("yess", false), ("ja", false), (nil, false),
    ] as [(String?, Bool)])
  func answers(answer: String?, isYes: Bool) {
    #expect(ConfirmationOptions.isYes(answer) == isYes)
  }
}
