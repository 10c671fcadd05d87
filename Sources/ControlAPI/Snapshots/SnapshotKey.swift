import HTTPTypes

/// Which picture of a program is asked for: a kind of file, and a width.
struct SnapshotKey: Hashable, Sendable {
    /// `jpg` or `png`.
    let format: String
    /// One of `widths`; 0 for the program's own.
    let width: Int

    /// Widths there are; any other is brought to the next larger, so that many askers ask for few pictures.
    static let widths = [160, 320, 480, 640, 960, 1280]

    /// The key for a request's `width`; nil for a width that is no number above zero.
    init?(format: String, width: String?) {
        guard let width else {
            self.init(format: format, resolved: 0)
            return
        }
        guard let number = Int(width), number > 0 else { return nil }
        self.init(format: format, resolved: Self.widths.first { $0 >= number } ?? 0)
    }

    /// Reads what `text` wrote; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: "-")
        guard parts.count == 2, ["jpg", "png"].contains(parts[0]), let width = Int(parts[1]),
            width == 0 || Self.widths.contains(width)
        else { return nil }
        self.init(format: String(parts[0]), resolved: width)
    }

    /// - Parameter width: One of `widths`, or 0.
    init(format: String, resolved width: Int) {
        self.format = format
        self.width = width
    }

    /// Such as `jpg-640`.
    var text: String { "\(format)-\(width)" }

    var contentType: String { format == "png" ? "image/png" : "image/jpeg" }
}

extension HTTPField.Name {
    /// The pictures that a mixer is asked for, such as `jpg-640,png-0`.
    static let footlightSnapshots = Self("Footlight-Snapshots") ?? .eTag
}
