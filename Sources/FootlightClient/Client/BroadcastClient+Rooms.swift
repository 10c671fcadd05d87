public import Foundation
public import FootlightModel
public import Stage

/// Rooms; only operators create and end them.
extension BroadcastClient {
    /// Creates a room.
    ///
    /// - Throws: 53113 for a name in use, 53100 to 53102 for an invalid one, 53107, 53006 at the gateway's limit.
    public func createRoom(_ body: CreateRoomBody) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms"], body)
    }

    /// Returns rooms, the oldest first.
    ///
    /// - Parameters:
    ///   - status: Restricts the list to a status.
    ///   - pageSize: The number of entries, 1 to 100; 50 when nil.
    ///   - pageToken: The `nextPageToken` of the previous page.
    public func rooms(
        status: RoomStatus? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StageError) -> RoomList {
        try await read(
            ["rooms"],
            query: [
                ("status", status?.rawValue), ("page_size", pageSize.map { String($0) }), ("page_token", pageToken),
            ]
        )
    }

    /// Returns a room.
    ///
    /// - Throws: 53106.
    public func room(_ room: String) async throws(StageError) -> RoomResource {
        try await read(["rooms", room])
    }

    /// Ends a room; its participants receive 53118.
    @discardableResult
    public func endRoom(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room], UpdateRoomBody(status: .known(.completed)))
    }

    /// Lets the audience see the program of a room that is backstage.
    @discardableResult
    public func goLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "go_live"])
    }

    /// Returns a room to backstage.
    @discardableResult
    public func stopLive(_ room: String) async throws(StageError) -> RoomResource {
        try await command(.post, ["rooms", room, "stop_live"])
    }
}

/// The layout of the program.
extension BroadcastClient {
    /// Returns the layout of a room with its tiles.
    public func layout(of room: String) async throws(StageError) -> LayoutResource {
        try await read(["rooms", room, "layout"])
    }

    /// Changes the layout on air; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right.
    @discardableResult
    public func setLayout(of room: String, _ body: LayoutBody) async throws(StageError) -> LayoutResource {
        try await command(.put, ["rooms", room, "layout"], body)
    }

    /// Returns the tiles of a layout without changing the program.
    public func previewLayout(of room: String, _ body: LayoutPreviewBody) async throws(StageError) -> LayoutResource {
        try await command(.post, ["rooms", room, "layout", "preview"], body)
    }
}

/// The audio mix of a room; changes require the right `streaming`.
extension BroadcastClient {
    /// Returns the audio settings of a room.
    public func sound(of room: String) async throws(StageError) -> RoomSoundResource {
        try await read(["rooms", room, "sound"])
    }

    /// Changes the audio settings of a room on air; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right.
    @discardableResult
    public func setSound(of room: String, _ body: RoomSoundBody) async throws(StageError) -> RoomSoundResource {
        try await command(.put, ["rooms", room, "sound"], body)
    }

    /// Changes how one participant is mixed; missing fields stay unchanged.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right, 53204.
    @discardableResult
    public func setSound(
        of participant: String,
        in room: String,
        _ body: ParticipantSoundBody
    ) async throws(StageError) -> ParticipantResource {
        try await command(.put, ["rooms", room, "participants", participant, "sound"], body)
    }
}

/// The images and audio files of a room, which its layout, slates and music name as `asset:NAME`; for operators.
extension BroadcastClient {
    /// Returns all assets by name.
    ///
    /// - Throws: 20106 for other bearers than operators, 53106.
    public func assets(of room: String) async throws(StageError) -> [AssetResource] {
        let list: AssetList = try await read(["rooms", room, "assets"])
        return list.assets
    }

    /// Returns the bytes of an asset as they were uploaded.
    ///
    /// - Throws: 404 if there is none of the name.
    public func asset(_ name: String, of room: String) async throws(StageError) -> Data {
        try await file(["rooms", room, "assets", name])
    }

    /// Uploads an image or audio file, replacing another one of its name.
    ///
    /// - Parameters:
    ///   - data: png, jpeg, webp, gif or bmp up to 5 MiB; mp3, aac, wav, ogg or flac up to 20 MiB.
    ///   - name: The name by which layouts refer to it.
    /// - Throws: 53004 with status 413 or 415 for a file that is too large or of another format, 3073 for an invalid
    ///   name, or with status 409 for too many files.
    @discardableResult
    public func storeAsset(
        _ data: Data,
        as name: String,
        in room: String
    ) async throws(StageError) -> AssetResource {
        try await store(data, at: ["rooms", room, "assets", name])
    }

    /// Removes an asset from a room.
    ///
    /// - Throws: 404 if there is none of the name.
    public func removeAsset(_ name: String, from room: String) async throws(StageError) {
        try await perform(.delete, ["rooms", room, "assets", name])
    }
}

/// The livestream and HLS of a program; require the right `streaming`.
extension BroadcastClient {
    /// Returns the state of the livestream and HLS.
    public func egress(of room: String) async throws(StageError) -> EgressResource {
        try await read(["rooms", room, "egress"])
    }

    /// Starts the livestream; events report its progress.
    ///
    /// - Throws: 4015 for invalid outputs, 3054 if it runs already, 3055 while it starts or stops, 4030.
    @discardableResult
    public func startLivestream(
        of room: String,
        _ body: StartLivestreamBody
    ) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "start"], body)
    }

    /// Stops the livestream.
    ///
    /// - Throws: 4014 if it does not run.
    @discardableResult
    public func stopLivestream(of room: String) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "stop"])
    }

    /// Adds outputs to a running livestream: all of them, or none.
    @discardableResult
    public func addOutputs(to room: String, _ outputs: [OutputBody]) async throws(StageError) -> LivestreamResource {
        try await command(.post, ["rooms", room, "livestream", "outputs"], ["outputs": outputs])
    }

    /// Removes an output; the last one can only be stopped with the livestream.
    ///
    /// - Throws: 4015 with status 409 for the last one.
    @discardableResult
    public func removeOutput(_ name: String, from room: String) async throws(StageError) -> LivestreamResource {
        try await command(.delete, ["rooms", room, "livestream", "outputs", name])
    }

    /// Starts HLS; events report when it is playable.
    @discardableResult
    public func startHLS(
        of room: String,
        _ body: StartHLSBody = StartHLSBody()
    ) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "start"], body)
    }

    /// Stops HLS.
    @discardableResult
    public func stopHLS(of room: String) async throws(StageError) -> HLSResource {
        try await command(.post, ["rooms", room, "hls", "stop"])
    }
}

/// Viewership.
extension BroadcastClient {
    /// Returns the viewership of a room.
    ///
    /// - Throws: 20106 without the right `streaming`.
    public func viewership(of room: String) async throws(StageError) -> ViewershipResource {
        try await read(["rooms", room, "viewership"])
    }

    /// Returns the viewership of all rooms, and their total; for operators and monitors.
    public func viewership() async throws(StageError) -> ViewershipTotalsResource {
        try await read(["viewership"])
    }
}
