import Cluster
import Dispatch
import Synchronization
import TestSupport
import Testing

@Suite("Model of a cluster")
struct ClusterModelTests {
    @Test("no random schedule gives a fence twice, has two owners of a room, or takes a room from a healthy node")
    func schedules() {
        let count = TestRun.isFull ? 100_000 : 5_000
        let results = Mutex<(violations: [String], takeovers: Int)>(([], 0))
        DispatchQueue.concurrentPerform(iterations: count / 500) { part in
            var (violations, takeovers): ([String], Int) = ([], 0)
            for seed in part * 500..<(part + 1) * 500 {
                var simulation = ClusterSimulation(seed: seed, rules: ClusterRules())
                simulation.run()
                takeovers += simulation.takeovers
                for violation in simulation.violations { violations.append("\(seed): \(violation.rawValue)") }
            }
            results.withLock { results in
                results.violations += violations
                results.takeovers += takeovers
            }
        }
        let (violations, takeovers) = results.withLock { $0 }
        #expect(violations.isEmpty, "\(violations.count): \(violations.prefix(10))")
        #expect(takeovers > count / 4, "only \(takeovers) takeovers in \(count) schedules")
    }

    /// A rule to break, and what shows that it is broken.
    struct Mutant: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var rule: @Sendable (inout ClusterRules) -> Void
        var faults: [ClusterSimulation.Fault]
        var violations: Set<ClusterSimulation.Violation>

        init(
            _ description: String,
            _ faults: [ClusterSimulation.Fault],
            _ violations: Set<ClusterSimulation.Violation>,
            rule: @escaping @Sendable (inout ClusterRules) -> Void
        ) {
            testDescription = description
            self.faults = faults
            self.violations = violations
            self.rule = rule
        }
    }

    private static let mutants = [
        Mutant("the lease holds from the answer", [.cut], [.twoOwners]) { $0.holdsFromAnswer = true },
        Mutant("the lease is extended by a read", [.formerPrimary], [.twoOwners]) { $0.holdsByRead = true },
        Mutant("the lease does not end by time", [.stop], [.twoOwners]) { $0.ignoresExpiry = true },
        Mutant("a node is fenced on first sight", [.lag], [.twoOwners]) { $0.fencesOnFirstSight = true },
        Mutant("a node is fenced after an outage of the store", [.outage], [.healthyFenced, .takenInOutage]) {
            $0.ignoresSteadiness = true
        },
        Mutant("a node is fenced at the last instant of its lease", [.cut], [.twoOwners]) {
            $0.includesBoundary = true
        },
        Mutant("lost writes go unnoticed", [.restore, .crash], [.twoOwners]) { $0.ignoresLostWrites = true },
        Mutant("fences do not begin at the clock", [.restore], [.fenceNotHigher]) { $0.ignoresFloor = true },
        Mutant("a claim is granted by what was read", [.formerPrimary, .lag], [.twoOwners]) { $0.claimsByRead = true },
        Mutant("a fenced process writes", [.cut], [.twoOwners]) { $0.acceptsFenced = true },
        Mutant("the fence is not stored", [.crash], [.fenceNotHigher]) { $0.forgetsFence = true },
        Mutant("a node is fenced over a changed row", [.lag, .formerPrimary], [.twoOwners]) {
            $0.fencesOverChange = true
        },
        Mutant("a former primary acknowledges alone", [.formerPrimary], [.twoOwners]) { $0.acknowledgesAlone = true },
    ]

    @Test("a broken rule is noticed", arguments: mutants)
    func brokenRules(mutant: Mutant) {
        var rules = ClusterRules()
        mutant.rule(&rules)
        var found: Set<ClusterSimulation.Violation> = []
        let isShown = (0..<20_000).contains { seed in
            var simulation = ClusterSimulation(seed: seed, faults: mutant.faults, rules: rules)
            simulation.run()
            found.formUnion(simulation.violations)
            return !found.isDisjoint(with: mutant.violations)
        }
        #expect(isShown, "20,000 schedules show only \(found.map(\.rawValue))")
    }
}
