/// The name under which a host plays what it is to hear: `ROOM.return.IDENTITY`, the program without the host's sound.
///
/// Room names and identities hold no dot, so such a name is neither a room's nor a host feed's.
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
