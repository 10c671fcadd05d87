/// What `/readyz` answers: whether new work is welcome, and every reason why not.
public struct Readiness: Sendable, Encodable, Equatable {
    /// One thing that is wrong.
    public struct Reason: Sendable, Encodable, Equatable {
        /// Small letters, digits and underscores; the same for the same kind of problem.
        public var name: String
        /// What is wrong, for people.
        public var problem: String

        /// Makes a reason.
        public init(name: String, problem: String) {
            self.name = name
            self.problem = problem
        }
    }

    /// Whether new work is welcome.
    public let ready: Bool
    /// Empty while new work is welcome.
    public let reasons: [Reason]

    /// Makes an answer; without reasons the gateway is ready.
    public init(reasons: [Reason] = []) {
        ready = reasons.isEmpty
        self.reasons = reasons
    }
}
