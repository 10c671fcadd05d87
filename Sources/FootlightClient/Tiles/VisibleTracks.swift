/// Which participants an app shows at this moment, and how large.
public struct VisibleTracks: Sendable, Equatable {
    /// Pixels of a picture as it is shown.
    public struct Size: Sendable, Hashable {
        /// Pixels across.
        public var width: Int
        /// Pixels down.
        public var height: Int

        /// Makes a size.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// Ids of those who are visible.
    public private(set) var shown: Set<String> = []
    /// How large those are shown whose size is known.
    public private(set) var sizes: [String: Size] = [:]

    /// Begins with nobody visible.
    public init() {}

    /// Somebody came into view, or went out of it.
    public mutating func setVisible(_ id: String, _ isVisible: Bool) {
        if isVisible {
            shown.insert(id)
        } else {
            shown.remove(id)
            sizes[id] = nil
        }
    }

    /// Somebody who is visible is shown this large; a size without pixels counts as out of view.
    public mutating func setSize(_ id: String, _ size: Size) {
        guard size.width > 0, size.height > 0 else { return setVisible(id, false) }
        shown.insert(id)
        sizes[id] = size
    }

    /// Forgets everybody who is not among these.
    public mutating func keep(_ ids: Set<String>) {
        shown.formIntersection(ids)
        sizes = sizes.filter { ids.contains($0.key) }
    }
}
