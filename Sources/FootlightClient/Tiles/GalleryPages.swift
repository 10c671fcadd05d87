/// The pages of a gallery: the local participant first, new participants last.
///
/// A dominant speaker that is not on the first page replaces the participant there that was dominant longest ago,
/// except the local one; the replaced participant moves to the beginning of the second page. Speakers on the first page
/// stay in place.
public struct GalleryPages: Sendable, Equatable {
    /// The number of participants on a page.
    public let pageSize: Int
    /// All participants in page order.
    public private(set) var participants: [String]
    /// The order in which participants were last dominant; without an entry for those that never were.
    private var lastDominant: [String: Int] = [:]
    private var dominantCount = 0

    /// Creates a gallery with the local participant only.
    ///
    /// - Parameter pageSize: The number of participants on a page; at least 2.
    public init(local: String, pageSize: Int = 6) {
        self.pageSize = max(pageSize, 2)
        participants = [local]
    }

    /// The pages; none is empty.
    public var pages: [[String]] {
        stride(from: 0, to: participants.count, by: pageSize).map { start in
            Array(participants[start..<min(start + pageSize, participants.count)])
        }
    }

    /// Sets the other participants; new ones are appended, missing ones removed.
    public mutating func update(_ remote: [String]) {
        let present = Set(remote)
        let local = participants[0]
        participants = [local] + participants.dropFirst().filter { present.contains($0) }
        let known = Set(participants)
        participants += remote.filter { !known.contains($0) }
        lastDominant = lastDominant.filter { present.contains($0.key) || $0.key == local }
    }

    /// Sets the dominant speaker; nil and unknown participants have no effect.
    public mutating func setDominant(_ speaker: String?) {
        guard let speaker, let index = participants.firstIndex(of: speaker) else { return }
        dominantCount += 1
        lastDominant[speaker] = dominantCount
        guard index >= pageSize else { return }
        let first = 1..<pageSize
        guard let oldest = first.min(by: { lastDominantTurn(of: $0) < lastDominantTurn(of: $1) }) else { return }
        let displaced = participants[oldest]
        participants.remove(at: index)
        participants[oldest] = speaker
        participants.insert(displaced, at: pageSize)
    }

    private func lastDominantTurn(of index: Int) -> Int { lastDominant[participants[index]] ?? 0 }
}

/// Chooses the participant that is displayed large: the dominant speaker, else the previous one if present, else the
/// first of the others, else the local participant.
public struct SpeakerChoice: Sendable, Equatable {
    private var previous: String?

    /// Creates a choice without a previous speaker.
    public init() {}

    /// Returns the participant to display large.
    ///
    /// - Parameters:
    ///   - dominant: The dominant speaker; nil if there is none.
    ///   - remote: The other participants in join order.
    ///   - local: The local participant.
    public mutating func choose(dominant: String?, remote: [String], local: String) -> String {
        if let dominant, dominant == local || remote.contains(dominant) {
            previous = dominant
            return dominant
        }
        if let previous, previous == local || remote.contains(previous) { return previous }
        previous = nil
        return remote.first ?? local
    }
}

/// A large tile with a strip below it: the first participant fills the stage, the others follow in order.
public struct SpeakerStage<Participant: Sendable>: Sendable {
    /// The participant on the stage; nil for an empty call, which shows a placeholder.
    public let stage: Participant?
    /// The other participants.
    public let strip: [Participant]
    /// The scale mode of the stage.
    public let scaleMode = VideoScaleMode.fit

    /// Whether there is a strip.
    public var hasStrip: Bool { !strip.isEmpty }

    /// Distributes participants that are in order.
    public init(_ participants: some Sequence<Participant>) {
        let all = Array(participants)
        stage = all.first
        strip = Array(all.dropFirst())
    }
}

extension SpeakerStage: Equatable where Participant: Equatable {}

/// The participants that an app displays, and at which size.
public struct VisibleTracks: Sendable, Equatable {
    /// The displayed size of a video in pixels.
    public struct Size: Sendable, Hashable {
        /// The width in pixels.
        public var width: Int
        /// The height in pixels.
        public var height: Int

        /// Creates a size.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The ids of the visible participants.
    public private(set) var shown: Set<String> = []
    /// The known sizes of visible participants.
    public private(set) var sizes: [String: Size] = [:]

    /// Creates an empty set.
    public init() {}

    /// Sets whether a participant is visible.
    public mutating func setVisible(_ id: String, _ isVisible: Bool) {
        if isVisible {
            shown.insert(id)
        } else {
            shown.remove(id)
            sizes[id] = nil
        }
    }

    /// Sets the size of a visible participant; a size without pixels means invisible.
    public mutating func setSize(_ id: String, _ size: Size) {
        guard size.width > 0, size.height > 0 else { return setVisible(id, false) }
        shown.insert(id)
        sizes[id] = size
    }

    /// Removes all participants except these.
    public mutating func retain(_ ids: Set<String>) {
        shown.formIntersection(ids)
        sizes = sizes.filter { ids.contains($0.key) }
    }
}
