import GatewayModel
import Stage

extension JoinAnswer {
    /// - Parameters:
    ///   - room: The room as it is answered everywhere.
    ///   - viewerToken: The session id of the participant's players.
    init(_ result: JoinResult, room: RoomResource, viewerToken: String?, addresses: PlaybackAddresses) {
        let name = result.room.name
        self.init(
            participant: ParticipantResource(result.participant),
            sessionID: result.sessionID,
            room: room,
            participants: result.room.participants.map { ParticipantResource($0) },
            tiles: result.room.tiles.map { TileResource($0) },
            ingest: IngestResource(result.credentials, addresses: addresses),
            callSettings: CallSettingsResource(result.callSettings),
            connectOptions: ConnectOptionsResource(result.callSettings, of: result.participant),
            playback: PlaybackResource(room: name, addresses: addresses, viewerToken: viewerToken),
            eventsURL: addresses.api(
                "rooms/\(name)/events?participant=\(result.participant.sid)&session_id=\(result.sessionID)"
            ),
            heartbeatInterval: RoomDirectory.heartbeatInterval,
            sessionTimeout: Self.sessionTimeout,
            fastReconnectDeadline: Self.fastReconnectDeadline
        )
    }

    /// The liveness clock, in seconds: given up so long after the loss; taken back without ado within.
    private static let sessionTimeout = 30
    private static let fastReconnectDeadline = 15
}
