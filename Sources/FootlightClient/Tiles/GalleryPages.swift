/// Participants on pages of a gallery: oneself first, newcomers at the end.
///
/// Who speaks and is not on the first page takes the place of whoever there spoke longest ago, never of oneself; that
/// one moves to the beginning of the second page. Speakers who are on the first page stay where they are.
public struct GalleryPages: Sendable, Equatable {
    /// Places on a page.
    public let pageSize: Int
    /// Everybody, page after page.
    public private(set) var participants: [String]
    /// When each was last dominant, counted up; who never was has no entry.
    private var spoke: [String: Int] = [:]
    private var turns = 0

    /// Begins with oneself alone.
    ///
    /// - Parameter pageSize: Places on a page; a page has at least 2.
    public init(local: String, pageSize: Int = 6) {
        self.pageSize = max(pageSize, 2)
        participants = [local]
    }

    /// The pages, none of them empty.
    public var pages: [[String]] {
        stride(from: 0, to: participants.count, by: pageSize).map { start in
            Array(participants[start..<min(start + pageSize, participants.count)])
        }
    }

    /// Takes everybody else who is there now; who is new comes last, who left makes room.
    public mutating func take(_ remote: [String]) {
        let present = Set(remote)
        let local = participants[0]
        participants = [local] + participants.dropFirst().filter { present.contains($0) }
        let known = Set(participants)
        participants += remote.filter { !known.contains($0) }
        spoke = spoke.filter { present.contains($0.key) || $0.key == local }
    }

    /// Somebody has the floor; nil and those who are not there change nothing.
    public mutating func setDominant(_ speaker: String?) {
        guard let speaker, let index = participants.firstIndex(of: speaker) else { return }
        turns += 1
        spoke[speaker] = turns
        guard index >= pageSize else { return }
        let first = 1..<pageSize
        guard let oldest = first.min(by: { turn(of: $0) < turn(of: $1) }) else { return }
        let displaced = participants[oldest]
        participants.remove(at: index)
        participants[oldest] = speaker
        participants.insert(displaced, at: pageSize)
    }

    private func turn(of index: Int) -> Int { spoke[participants[index]] ?? 0 }
}
