/// The content of `onStatus` or `_error`: a level, a stable code and a description.
public struct RTMPStatus: Error, Sendable, Equatable {
    /// `status` for progress, `error` for a refusal.
    public var level: String
    /// The stable name, such as `NetStream.Publish.BadName`.
    public var code: String
    /// A human-readable description.
    public var description: String

    /// Creates a status; common ones have factory methods.
    public init(level: String, code: String, description: String) {
        self.level = level
        self.code = code
        self.description = description
    }

    /// Whether the level is `error`.
    public var isError: Bool { level == "error" }

    private static func status(_ code: String, _ description: String) -> RTMPStatus {
        RTMPStatus(level: "status", code: code, description: description)
    }

    private static func error(_ code: String, _ description: String) -> RTMPStatus {
        RTMPStatus(level: "error", code: code, description: description)
    }
}

extension RTMPStatus {
    /// The connection was accepted.
    public static let connectSuccess = status("NetConnection.Connect.Success", "Connection succeeded.")

    /// The connection was rejected, with the reason.
    public static func connectRejected(_ reason: String) -> RTMPStatus {
        error("NetConnection.Connect.Rejected", reason)
    }

    /// Asks a capable peer to reconnect (enhanced RTMP 2).
    public static func reconnectRequest(_ reason: String) -> RTMPStatus {
        status("NetConnection.Connect.ReconnectRequest", reason)
    }

    /// The peer may send media.
    public static let publishStart = status("NetStream.Publish.Start", "Publishing has started.")

    /// The stream key is unknown or invalid.
    public static func publishBadName(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.BadName", reason)
    }

    /// The key is known but may not publish now.
    public static func publishDenied(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Denied", reason)
    }

    /// The stream ends for a reason unrelated to the key.
    public static func publishFailed(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Failed", reason)
    }

    /// The stream's media is not supported.
    public static func publishRejected(_ reason: String) -> RTMPStatus {
        error("NetStream.Publish.Rejected", reason)
    }

    /// A newer connection with the same key replaced this one.
    public static let publishReplaced = error(
        "NetStream.Publish.BadName",
        "Another connection publishes with this stream key now."
    )

    /// The stream ended at the peer's request.
    public static let unpublishSuccess = status("NetStream.Unpublish.Success", "Publishing has stopped.")

    /// The previous stream state was reset.
    public static let playReset = status("NetStream.Play.Reset", "Playing and resetting stream.")

    /// Playback starts; media follows.
    public static let playStart = status("NetStream.Play.Start", "Started playing stream.")

    /// No stream has this name.
    public static func playStreamNotFound(_ reason: String) -> RTMPStatus {
        error("NetStream.Play.StreamNotFound", reason)
    }

    /// No program has the name that a player requests.
    ///
    /// Most players show the description and not the code.
    public static func noProgram(_ request: PlayRequest) -> RTMPStatus {
        let address = request.app == "live" ? "" : "; the application is live, not \(request.app)"
        return playStreamNotFound(
            "There is no room \(request.name), it has ended, or its program has not begun\(address)."
        )
    }

    /// The stream exists but cannot be played now.
    public static func playFailed(_ reason: String) -> RTMPStatus {
        error("NetStream.Play.Failed", reason)
    }

    /// The stream has ended.
    public static let playUnpublishNotify = status("NetStream.Play.UnpublishNotify", "The stream has ended.")
}
