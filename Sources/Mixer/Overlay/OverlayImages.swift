import Codecs

/// The images that overlays show, read from the files that are there.
struct OverlayImages: Sendable {
    private let shelf: AssetShelf?

    /// No images at all: what an overlay looks like before its file comes.
    init() {
        shelf = nil
    }

    init(_ shelf: AssetShelf) {
        self.shelf = shelf
    }

    /// The image of that name at its own size; nil when there is none yet, or the file is no image that can be read.
    ///
    /// What needs an image does without it then: one bad file must not cost more than itself.
    subscript(asset: String?) -> StillPicture? {
        guard let asset, let file = shelf?.asset(asset) else { return nil }
        do {
            return try StillPicture.read(file.bytes)
        } catch {
            shelf?.cannotUse(file, of: asset, because: error)
            return nil
        }
    }
}
