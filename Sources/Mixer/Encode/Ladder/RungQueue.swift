import Media

/// What waits for a rendition's encoder, and which of its canvases are free.
///
/// Two pictures wait at most. A picture that finds no room is left out, but a key picture never is: it takes the place
/// of the newest one that waits, so that key pictures stay on the moments on which all other renditions have theirs.
struct RungQueue: Sendable {
    enum Job: Sendable, Equatable {
        case picture(canvas: Int, index: Int64, isKey: Bool)
        /// The picture is not in the rendition.
        case skipped(index: Int64)
        case sound(MediaPacket)
        case soundPromise(Int64)

        static func == (left: Job, right: Job) -> Bool {
            switch (left, right) {
            case (.picture(let a, let b, let c), .picture(let x, let y, let z)): a == x && b == y && c == z
            case (.skipped(let a), .skipped(let b)): a == b
            case (.sound(let a), .sound(let b)): a.timestamp == b.timestamp
            case (.soundPromise(let a), .soundPromise(let b)): a == b
            default: false
            }
        }
    }

    /// Over twenty seconds of sound; beyond it the rendition's thread does not run at all.
    private static let mostJobs = 2048

    private var jobs: [Job] = []
    private var free: [Int]
    private(set) var dropped: Int64 = 0

    init(canvases: Int) {
        free = Array(0..<canvases)
    }

    /// A canvas to paint picture `index` on; nil when it is left out.
    mutating func takeCanvas(index: Int64, isKey: Bool) -> Int? {
        if let canvas = free.popLast() { return canvas }
        dropped += 1
        let newest = jobs.lastIndex { if case .picture = $0 { true } else { false } }
        guard isKey, let newest, case .picture(let canvas, let left, _) = jobs[newest] else {
            append(.skipped(index: index))
            return nil
        }
        jobs[newest] = .skipped(index: left)
        return canvas
    }

    mutating func append(_ job: Job) {
        guard jobs.count < Self.mostJobs else { return }
        jobs.append(job)
    }

    mutating func next() -> Job? {
        jobs.isEmpty ? nil : jobs.removeFirst()
    }

    mutating func giveBack(_ canvas: Int) {
        free.append(canvas)
    }
}
