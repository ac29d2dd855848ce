import OperatorCommands

@main
enum EntitlectlProgram {
  static func main() async {
    await EntitleControl.runAndExit()
  }
}
