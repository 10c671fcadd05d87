/// A recording of arrivals that cannot be written or read.
public struct ArrivalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for people.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
