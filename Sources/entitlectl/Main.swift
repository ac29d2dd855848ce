import OperatorCommands

@main
enum Main {
  static func main() async {
    await EntitleControl.runAndExit()
  }
}
