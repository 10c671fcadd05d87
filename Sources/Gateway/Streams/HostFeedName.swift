import FanOut
import Stage

/// The name under which the mixer plays a host's media: `ROOM.host.SID`, with `.screen` behind it for the screen.
///
/// Room names hold no dot, so such a name never is a room's.
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
    /// Ends what is played of a host, and forgets what its feeds still hold.
    func closeHost(_ participantSID: String, room: String) {
        for source in [PublishSource.camera, .screen] {
            let name = HostFeedName(room: room, participantSID: participantSID, source: source)
            close(name.text, reason: .roomEnded)
        }
    }
}
