public import Foundation
public import GatewayModel
public import Stage

/// The pictures and sounds of a room, which its layout, its slates and its music name as `asset:NAME`; for operators.
extension BroadcastClient {
    /// All of them by name.
    ///
    /// - Throws: 20106 for anybody but an operator, 53106.
    public func assets(of room: String) async throws(StageError) -> [AssetResource] {
        let list: AssetList = try await read(["rooms", room, "assets"])
        return list.assets
    }

    /// A picture or sound as it was put there.
    ///
    /// - Throws: 404 where there is none of the name.
    public func asset(_ name: String, of room: String) async throws(StageError) -> Data {
        try await file(["rooms", room, "assets", name])
    }

    /// Puts a picture or sound into a room, in place of another one of its name.
    ///
    /// - Parameters:
    ///   - data: png, jpeg, webp, gif or bmp up to 5 MiB; mp3, aac, wav, ogg or flac up to 20 MiB.
    ///   - name: What layouts call it by.
    /// - Throws: 53004 with status 413 or 415 for a file that is none of these, 3073 for the name or with status 409 for
    ///   one file too many.
    @discardableResult
    public func storeAsset(
        _ data: Data,
        as name: String,
        in room: String
    ) async throws(StageError) -> AssetResource {
        try await store(data, at: ["rooms", room, "assets", name])
    }

    /// Takes a picture or sound out of a room.
    ///
    /// - Throws: 404 where there is none of the name.
    public func removeAsset(_ name: String, from room: String) async throws(StageError) {
        try await order(.delete, ["rooms", room, "assets", name])
    }
}
