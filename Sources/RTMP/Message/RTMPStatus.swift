/// What `onStatus` or `_error` says to a peer: a level, a stable code, and a sentence for people.
public struct RTMPStatus: Error, Sendable, Equatable {
    /// `status` for progress, `error` for a refusal.
    public var level: String
    /// The stable name, such as `NetStream.Publish.BadName`.
    public var code: String
    /// A sentence for people.
    public var description: String

    /// A status of any kind; the usual ones have makers of their own.
    public init(level: String, code: String, description: String) {
        self.level = level
        self.code = code
        self.description = description
    }

    /// Whether the status refuses something.
    public var isError: Bool { level == "error" }

    private static func status(_ code: String, _ description: String) -> RTMPStatus {
        RTMPStatus(level: "status", code: code, description: description)
    }

    private static func error(_ code: String, _ description: String) -> RTMPStatus {
        RTMPStatus(level: "error", code: code, description: description)
    }
}

extension RTMPStatus {
    /// The connection stands.
    public static let connectSuccess = status("NetConnection.Connect.Success", "Connection succeeded.")

    /// The connection is refused, with the reason.
    public static func connectRejected(_ reason: String) -> RTMPStatus {
        error("NetConnection.Connect.Rejected", reason)
    }

    /// Asks a peer that can do so to connect again, here or elsewhere (enhanced RTMP 2).
    public static func reconnectRequest(_ reason: String) -> RTMPStatus {
        status("NetConnection.Connect.ReconnectRequest", reason)
    }

    /// The peer may send its media.
    public static let publishStart = status("NetStream.Publish.Start", "Publishing has started.")

    /// The stream key is unknown, or may not publish.
    public static func publishBadName(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.BadName", reason)
    }

    /// The key is known, but it may not publish now.
    public static func publishDenied(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Denied", reason)
    }

    /// The stream stops, for a reason that is no fault of the key.
    public static func publishFailed(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Failed", reason)
    }

    /// What the stream carries is not taken here.
    public static func publishRejected(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Rejected", reason)
    }

    /// A newer connection with the same key took over.
    public static let publishReplaced = error(
        "NetStream.Publish.BadName",
        "Another connection publishes with this stream key now."
    )

    /// The stream's end, as asked for.
    public static let unpublishSuccess = status("NetStream.Unpublish.Success", "Publishing has stopped.")

    /// What went before on this stream is over.
    public static let playReset = status("NetStream.Play.Reset", "Playing and resetting stream.")

    /// Media follows.
    public static let playStart = status("NetStream.Play.Start", "Started playing stream.")

    /// There is no such stream.
    public static func playStreamNotFound(_ reason: String) -> RTMPStatus {
        error("NetStream.Play.StreamNotFound", reason)
    }

    /// The stream exists, but cannot be played now.
    public static func playFailed(_ reason: String) -> RTMPStatus {
        error("NetStream.Play.Failed", reason)
    }

    /// The stream has ended.
    public static let playUnpublishNotify = status("NetStream.Play.UnpublishNotify", "The stream has ended.")
}
