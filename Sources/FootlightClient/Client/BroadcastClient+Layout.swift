public import GatewayModel
public import Stage

/// What the program looks like.
extension BroadcastClient {
    /// The layout of a room, with its tiles.
    public func layout(of room: String) async throws(StageError) -> LayoutResource {
        try await read(["rooms", room, "layout"])
    }

    /// Changes the layout on air; what is not named stays.
    ///
    /// - Throws: 3073 naming the field, 20106 without the right to.
    @discardableResult
    public func setLayout(of room: String, _ body: LayoutBody) async throws(StageError) -> LayoutResource {
        try await command(.put, ["rooms", room, "layout"], body)
    }

    /// The tiles that a layout would give, without touching the air.
    public func previewLayout(of room: String, _ body: LayoutPreviewBody) async throws(StageError) -> LayoutResource {
        try await command(.post, ["rooms", room, "layout", "preview"], body)
    }
}
