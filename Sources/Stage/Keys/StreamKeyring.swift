/// The stream keys of all rooms, as digests, found by the part that names them.
struct StreamKeyring: Sendable {
    /// Whose key it is.
    struct Owner: Sendable, Equatable {
        let roomSID: String
        let participantSID: String
    }

    private struct Entry: Sendable {
        let digest: [UInt8]
        let owner: Owner
    }

    private let pepper: [UInt8]
    private var entries: [String: Entry] = [:]
    /// Compared against when the name of a key is unknown, so that this takes as long as a wrong secret.
    private let nobody: [UInt8]

    init(pepper: [UInt8]) {
        self.pepper = pepper
        nobody = StreamKey().digest(pepper: pepper)
    }

    var count: Int { entries.count }

    /// Makes a key for a host and keeps its digest.
    mutating func issue(to owner: Owner) -> StreamKey {
        var key = StreamKey()
        while entries[key.identifier] != nil {
            key = StreamKey()
        }
        entries[key.identifier] = Entry(digest: key.digest(pepper: pepper), owner: owner)
        return key
    }

    /// Whose key `presented` is; nil for a wrong one.
    func owner(of presented: StreamKey) -> Owner? {
        let entry = entries[presented.identifier]
        let isSame = StreamKey.isSame(presented.digest(pepper: pepper), entry?.digest ?? nobody)
        return isSame ? entry?.owner : nil
    }

    /// The keys of one room, as far as they may be stored.
    func records(roomSID: String) -> [StreamKeyRecord] {
        let entries = entries.filter { $0.value.owner.roomSID == roomSID }
        let records = entries.map { identifier, entry in
            StreamKeyRecord(
                identifier: identifier,
                digest: entry.digest,
                participantSID: entry.owner.participantSID
            )
        }
        return records.sorted { $0.identifier < $1.identifier }
    }

    /// Knows a key again that was stored; a name that is taken stays with the key that has it.
    mutating func restore(_ record: StreamKeyRecord, roomSID: String) {
        guard entries[record.identifier] == nil else { return }
        let owner = Owner(roomSID: roomSID, participantSID: record.participantSID)
        entries[record.identifier] = Entry(digest: record.digest, owner: owner)
    }

    /// Forgets the keys of one participant.
    mutating func revoke(participantSID: String) {
        entries = entries.filter { $0.value.owner.participantSID != participantSID }
    }

    /// Forgets the keys of a whole room.
    mutating func revoke(roomSID: String) {
        entries = entries.filter { $0.value.owner.roomSID != roomSID }
    }
}
