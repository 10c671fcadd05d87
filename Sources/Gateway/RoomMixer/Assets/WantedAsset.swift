import Stage

/// A picture or sound that a room's scenes name.
struct WantedAsset: Hashable, Sendable {
    /// What scenes call it: `asset:NAME`, or an `http://` or `https://` URL.
    let id: String
    /// Another one for each content of the name, as far as the room's events told; nil for what they did not tell of.
    let version: String?
    /// What it is named for, which says how much of it is taken.
    var kind = Asset.Kind.image

    /// The name in the room; nil for a URL.
    var name: String? { id.hasPrefix("asset:") ? String(id.dropFirst("asset:".count)) : nil }
}
