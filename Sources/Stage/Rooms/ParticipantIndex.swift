/// Where in a list of participants each of them is, by sid and by identity.
struct ParticipantIndex: Sendable {
    private var bySID: [String: Int] = [:]
    private var byIdentity: [String: Int] = [:]

    /// The place of a participant; a sid counts before an identity of the same letters.
    func index(of reference: String) -> Int? {
        bySID[reference] ?? byIdentity[reference]
    }

    func index(ofIdentity identity: String) -> Int? {
        byIdentity[identity]
    }

    mutating func add(_ participant: Participant, at index: Int) {
        bySID[participant.sid] = index
        byIdentity[participant.identity] = index
    }

    /// Those behind move up by one.
    mutating func remove(_ participant: Participant, at index: Int) {
        bySID[participant.sid] = nil
        byIdentity[participant.identity] = nil
        bySID = bySID.mapValues { $0 > index ? $0 - 1 : $0 }
        byIdentity = byIdentity.mapValues { $0 > index ? $0 - 1 : $0 }
    }
}
