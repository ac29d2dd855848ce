import SimulatorCommands

await Simulator.main()
