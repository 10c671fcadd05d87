import Foundation
import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

/// What most routes begin with.
extension ControlRoutes {
    /// The room that the path names.
    ///
    /// - Throws: 53106; for a token of another room 20106, so that it does not learn which rooms there are.
    func room(_ call: Call) throws(StageError) -> RoomSummary {
        let reference = call.path("room")
        do {
            return try directory.summary(of: reference)
        } catch {
            throw call.claims.mayKnowOf(reference) ? error : .tokenGrantsInvalid
        }
    }

    /// As `room`, but an ended one counts as not found.
    ///
    /// - Parameter isBack: The bearer says to have been in the room; without one it is told that the room has ended.
    func liveRoom(_ call: Call, isBack: Bool = false) throws(StageError) -> RoomSummary {
        do throws(StageError) {
            let room = try room(call)
            guard room.status == .inProgress else { throw .roomNotFound }
            return room
        } catch {
            throw isBack && error == .roomNotFound ? .roomGone : error
        }
    }

    /// A room in progress that the bearer may read; see `liveRoom`.
    func readableRoom(_ call: Call, isBack: Bool = false) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call, isBack: isBack)
        try call.claims.requireReading(room)
        return room
    }

    /// A room in progress whose show the bearer may run.
    func streamingRoom(_ call: Call) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call)
        try call.claims.require(.streaming, in: room)
        return room
    }

    /// A room in progress whose program the bearer may send out.
    func broadcastRoom(_ call: Call) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call)
        try call.claims.requireStreaming(room)
        return room
    }

    /// The participant that the path names.
    ///
    /// - Throws: 53204; 3035 when the bearer names itself and is not in the room.
    func participant(_ call: Call, in room: RoomSummary) throws(StageError) -> ParticipantView {
        let reference = call.path("participant")
        do {
            return try directory.participant(reference, in: room.sid)
        } catch {
            throw call.claims.role == .participant && reference == call.claims.identity ? .notJoined : error
        }
    }

    /// The participant of a command, which waits while the one who gives it is not connected (V20).
    ///
    /// - Throws: As `participant`, and 3065.
    func commandedParticipant(_ call: Call, in room: RoomSummary) throws(StageError) -> ParticipantView {
        let participant = try participant(call, in: room)
        if call.claims.isSelf(participant, in: room) {
            try directory.requireReady(room: room.sid, participant: participant.sid)
        }
        return participant
    }

    /// The bearer as a participant of the room, ready to give commands.
    ///
    /// - Throws: 20106 for a bearer that is no participant, 3035 for one that has not joined, 3065.
    func bearer(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> ParticipantView {
        guard claims.role == .participant, claims.isFor(room) else { throw .tokenGrantsInvalid }
        guard let found = try? directory.participant(claims.identity, in: room.sid), claims.isSelf(found, in: room)
        else { throw .notJoined }
        try directory.requireReady(room: room.sid, participant: found.sid)
        return found
    }

    /// Refuses new work while none can be taken.
    func admit() throws(StageError) {
        if let refusal = admission() { throw refusal }
    }

    /// Refuses work that begins a program while none can be taken, or while the machine has no time for one more.
    func admitProgram(of room: some NamedRoom) throws(StageError) {
        try admit()
        try directory.requireProcessor(forProgramIn: room.sid)
    }

    /// Keeps what has changed in a room.
    ///
    /// A show goes on though its record cannot be written; the fault is the store's to raise the alarm about.
    func keep(_ room: some NamedRoom) async {
        do {
            try await persist(room.sid)
        } catch {
            audit.notKept(room, error)
        }
    }

    /// Our addresses, under the host by which the client reached us.
    func addresses(for request: Request) -> PlaybackAddresses {
        addresses().reached(by: HostName.parse(request.head.authority))
    }

    func mode(named name: some StringProtocol) throws(StageError) -> ParticipantMode {
        guard let mode = ParticipantMode(wireName: String(name)) else { throw .unknownMode }
        return mode
    }
}
