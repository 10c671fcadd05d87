import TestSupport

/// Periodic measurements during a show, printed one line each.
struct SoakLog {
    private struct Memory {
        let second: Double
        let gateway: Int
        let mixer: Int
    }

    /// Seconds until caches are full.
    private static let warmUp = 20.0
    /// Accepted memory growth in mebibytes, by the allocator and short queues.
    private static let tolerance = 24.0

    private let gateway: GatewayProcess
    private let interval: Double
    private var nextAt: Double
    private var memory: [Memory] = []
    private var mixers: [Int32] = []
    private var longestWait = 0.0
    private var miscounts = 0

    /// - Parameter interval: Seconds from one line to the next.
    init(gateway: GatewayProcess, every interval: Double) {
        self.gateway = gateway
        self.interval = interval
        nextAt = Self.warmUp
        print(
            "minute | hosts | viewers counted | longest wait, s | gateway, MiB | mixer, MiB | good output | bad output"
        )
    }

    /// Prints a line if one is due.
    mutating func tick(at second: Double, hosts: Int, _ outputs: SoakOutputs, _ audience: SoakAudience) async throws {
        guard second >= nextAt else { return }
        nextAt += interval
        let processes = gateway.mixers(of: "soak")
        // Earlier waits belong to startup: a player waits for the program's next keyframe.
        let wait = audience.drainLongestWait()
        if mixers.isEmpty { mixers = processes } else { longestWait = max(longestWait, wait) }
        if processes != mixers { mixers.append(contentsOf: processes.filter { !mixers.contains($0) }) }
        let resident = Memory(
            second: second,
            gateway: RunningProcess.residentBytes(of: gateway.endpoints.pid) ?? 0,
            mixer: processes.last.flatMap { RunningProcess.residentBytes(of: $0) } ?? 0
        )
        memory.append(resident)
        let counted = try await audience.counted()
        if counted != audience.count { miscounts += 1 }
        let states = try await outputs.states()
        func text(_ name: String) -> String {
            guard let output = states[name] else { return "none" }
            return "\(output.state), \(output.reconnects) reconnects, \(output.dropped) dropped"
        }
        print(
            (second / 60).text(1),
            "\(hosts)",
            "\(counted)",
            wait.text(3),
            mebibytes(resident.gateway).text(1),
            mebibytes(resident.mixer).text(1),
            text("good"),
            text("bad"),
            separator: " | "
        )
    }

    /// Returns the failed checks.
    ///
    /// - Parameter isStarved: Whether the machine had too little processor time, so that frames may have been late.
    func faults(isStarved: Bool) -> [String] {
        var faults: [String] = []
        if mixers.count != 1 { faults.append("there were \(mixers.count) mixers") }
        if longestWait > 1, !isStarved { faults.append("a viewer waited \(longestWait.text(2)) s for a frame") }
        if miscounts > memory.count / 10 { faults.append("the count of viewers was wrong \(miscounts) times") }
        for (name, value) in [("gateway", \Memory.gateway), ("mixer", \.mixer)] {
            let (early, late) = (mean(0.25..<0.5, value), mean(0.75..<1, value))
            print("memory of the \(name): \(early.text(1)) MiB in the second quarter, \(late.text(1)) in the last")
            if late > early + Self.tolerance { faults.append("the \(name) grew by \((late - early).text(1)) MiB") }
        }
        return faults
    }

    /// Returns the mean memory in mebibytes over a part of the show.
    private func mean(_ part: Range<Double>, _ value: KeyPath<Memory, Int>) -> Double {
        let end = memory.last?.second ?? 0
        let meant = memory.filter { part.contains($0.second / (end + 1)) }
        guard !meant.isEmpty else { return 0 }
        return meant.reduce(0) { $0 + mebibytes($1[keyPath: value]) } / Double(meant.count)
    }

    private func mebibytes(_ bytes: Int) -> Double { Double(bytes) / 1_048_576 }
}
