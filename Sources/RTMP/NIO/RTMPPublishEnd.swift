/// Why a publishing connection is over.
public struct RTMPPublishEnd: Error, Sendable, Equatable {
    /// A sentence for people.
    public var reason: String
    /// What the server said, when it was the server that ended it.
    public var status: RTMPStatus?
    /// The stream was ended by our own side, and in an orderly way.
    public var isFinished: Bool

    /// Whether the same stream would be refused again, however often it is tried.
    ///
    /// So it is with a name the server does not know, with one that a newer connection took over, with media it does
    /// not take, and where the application itself is refused.
    public var isFinal: Bool {
        guard let status, status.isError else { return false }
        return [
            "NetStream.Publish.BadName", "NetStream.Publish.Rejected", "NetConnection.Connect.Rejected",
            "NetConnection.Connect.InvalidApp",
        ].contains(status.code)
    }

    init(_ reason: String, isFinished: Bool = false) {
        self.reason = reason
        self.isFinished = isFinished
    }

    init(_ status: RTMPStatus) {
        reason = "\(status.code): \(status.description)"
        self.status = status
        isFinished = false
    }
}
