import Media

/// How a host is seen, for each of its pictures: what the program's thread says, as the decode thread follows it.
///
/// Another tile counts from a picture on that has not been decoded yet, by the times of the two and not by when the
/// decode thread happens to look; so a recording of the arrivals repeats it. A host that comes back from no tile is
/// seen at once: all that was not decoded meanwhile is, for the tile that it has now.
struct HostViews: Sendable {
    /// Milliseconds beyond those by which pictures are decoded ahead: as late as either thread usually is.
    static let margin = 50.0
    /// Changes that wait for their picture; more are more than anybody sees.
    private static let mostWaiting = 8

    /// What the pictures that are decoded now are decoded for.
    private(set) var view = HostView.whole
    /// Rises whenever the host comes back from no tile.
    private(set) var returns = 0
    private var waiting: [(view: HostView, from: Double)] = []

    /// What was said last.
    var newest: HostView { waiting.last?.view ?? view }

    /// - Parameter start: The host's time, in milliseconds, from which on pictures are decoded for it; nil for at once.
    mutating func change(to view: HostView, from start: Double?) {
        let newest = newest
        guard view != newest else { return }
        if newest == .hidden { returns += 1 }
        guard newest != .hidden, let start else {
            waiting.removeAll()
            self.view = view
            return
        }
        if waiting.count == Self.mostWaiting { self.view = waiting.removeFirst().view }
        waiting.append((view, start))
    }

    /// How the host is seen with the picture in `packet`; with the last one, without.
    mutating func follow(_ packet: MediaPacket?) -> HostView {
        guard let packet, packet.isVideo, !packet.isConfiguration else { return view }
        while let next = waiting.first, Double(packet.timestamp) >= next.from {
            view = next.view
            waiting.removeFirst()
        }
        return view
    }
}
