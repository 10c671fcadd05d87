import FanOut
import Stage

/// The name of a host's feed for the mixer: `ROOM.host.SID`, with the suffix `.screen` for the screen.
///
/// Room names contain no dot, so that the name is never a room's.
struct HostFeedName: Equatable {
    let room: String
    let participantSID: String
    let source: PublishSource

    init(_ grant: PublishGrant) {
        self.init(room: grant.room, participantSID: grant.participantSID, source: grant.source)
    }

    init(room: String, participantSID: String, source: PublishSource) {
        self.room = room
        self.participantSID = participantSID
        self.source = source
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 || (parts.count == 4 && parts[3] == "screen") else { return nil }
        guard !parts[0].isEmpty, parts[1] == "host", !parts[2].isEmpty else { return nil }
        self.init(
            room: String(parts[0]),
            participantSID: String(parts[2]),
            source: parts.count == 4 ? .screen : .camera
        )
    }

    var text: String {
        "\(room).host.\(participantSID)" + (source == .screen ? ".screen" : "")
    }
}

extension FeedDirectory {
    /// Closes a host's feeds and discards their cached media.
    func closeHost(_ participantSID: String, room: String) {
        for source in [PublishSource.camera, .screen] {
            let name = HostFeedName(room: room, participantSID: participantSID, source: source)
            close(name.text, reason: .roomEnded)
        }
    }
}

/// The name of a host's return feed: `ROOM.return.IDENTITY`, the program without the host's own audio.
///
/// Room names and identities contain no dot, so that the name is neither a room's nor a host feed's.
struct ReturnFeedName: Equatable {
    let room: String
    let identity: String

    init(room: String, identity: String) {
        self.room = room
        self.identity = identity
    }

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1] == "return", !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(room: String(parts[0]), identity: String(parts[2]))
    }

    var text: String { "\(room).return.\(identity)" }
}
