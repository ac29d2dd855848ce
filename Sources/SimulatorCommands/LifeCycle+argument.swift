import ArgumentParser
import StoreSimulator

extension LifeCycle: ExpressibleByArgument {}
extension Delivery: ExpressibleByArgument {}
