/// Who plays a feed: a property of its name, which is all that the ways of delivery know of it.
///
/// The players of a program and its renditions are viewers: the room decides who may watch, and they are counted. All
/// others have a token for the feed, and no viewer counter learns of them.
public enum FeedAudience: Sendable, Hashable {
    /// The viewers of a program or a rendition.
    case viewers
    /// The operators and monitors of a room, for its preview.
    case monitors
    /// One host, for its return feed.
    case host
    /// The mixer, for what a host sends.
    case mixer

    /// Returns who plays the feed of a name; one that is played like a preview is never for viewers.
    public init(of name: String) {
        if PreviewFeedName.isName(name) {
            self = .monitors
        } else if ReturnFeedName(name) != nil {
            self = .host
        } else {
            self = HostFeedName(name) == nil ? .viewers : .mixer
        }
    }

    /// Whether its players are viewers, who are counted.
    public var isCounted: Bool { self == .viewers }
}

/// The name of a host's feed for the mixer: `ROOM.host.SID`, with the suffix `.screen` for the screen.
///
/// Room names contain no dot, so that the name is never a room's.
package struct HostFeedName: Equatable {
    package let room: String
    package let participantSID: String
    package let source: PublishSource

    package init(_ grant: PublishGrant) {
        self.init(room: grant.room, participantSID: grant.participantSID, source: grant.source)
    }

    package init(room: String, participantSID: String, source: PublishSource) {
        self.room = room
        self.participantSID = participantSID
        self.source = source
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 || (parts.count == 4 && parts[3] == "screen") else { return nil }
        guard !parts[0].isEmpty, parts[1] == "host", !parts[2].isEmpty else { return nil }
        self.init(
            room: String(parts[0]),
            participantSID: String(parts[2]),
            source: parts.count == 4 ? .screen : .camera
        )
    }

    package var text: String {
        "\(room).host.\(participantSID)" + (source == .screen ? ".screen" : "")
    }
}

/// The name of a host's return feed: `ROOM.return.IDENTITY`, the program without the host's own audio.
///
/// Room names and identities contain no dot, so that the name is neither a room's nor a host feed's.
package struct ReturnFeedName: Equatable {
    package let room: String
    package let identity: String

    package init(room: String, identity: String) {
        self.room = room
        self.identity = identity
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1] == "return", !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(room: String(parts[0]), identity: String(parts[2]))
    }

    package var text: String { "\(room).return.\(identity)" }
}
