import DequeModule
import Synchronization

/// What a director says to hosts, from its arrival until their mix-minus feeds contain it.
///
/// Any thread adds blocks; the program's thread reads them by quanta.
public final class TalkbackInput: Sendable {
    private let queue = Mutex(TalkbackQueue())

    /// Creates an input without audio.
    public init() {}

    /// Queues samples of 48 kHz for the hosts with these sids.
    public func receive(_ samples: [Float], for hosts: Set<String>) {
        queue.withLock { $0.append(samples, for: hosts) }
    }

    /// The number of samples that were not played, because too many had come, or too few to be played.
    public var dropped: Int { queue.withLock { $0.dropped } }

    /// Reads the next quantum into both channels of `buffer`; nil while there is none.
    func read(into buffer: borrowing StereoBuffer) -> TalkbackQuantum? {
        let (left, right) = (buffer.left, buffer.right)
        return queue.withLock { queue in
            let quantum = queue.read(into: left, count: ProgramTime.quantum)
            if quantum != nil { right.update(from: left, count: ProgramTime.quantum) }
            return quantum
        }
    }
}

/// A quantum of talkback audio.
struct TalkbackQuantum: Equatable {
    /// The sids of the hosts that it is for.
    let hosts: Set<String>
    /// Whether it has to be faded out, because what follows does not continue it.
    let isLast: Bool
}

/// The jitter buffer of the talkback.
///
/// Playback begins when the buffer has its target, or a little later with less. It ends with a fade when the next quantum
/// is not there in time. A buffer that has become too long, by a fast clock or a slow network, is reduced to its target
/// behind a fade.
struct TalkbackQueue: Sendable {
    /// The samples with which playback begins: 150 ms.
    static let target = 150 * 48
    /// The most samples in the long run: 600 ms.
    static let longest = 600 * 48
    /// The most samples at any time: a second.
    static let capacity = 1000 * 48
    /// The quanta after which playback begins with less than the target: 150 ms.
    static let longestWait = 14

    private var samples = Deque<Float>()
    private var hosts: Set<String> = []
    private var isPlaying = false
    /// Quanta since the first sample came that is not played.
    private var waited = 0
    /// Samples that were not played.
    private(set) var dropped = 0

    /// Samples that wait.
    var count: Int { samples.count }

    /// Adds a block, whose hosts are in force at once.
    mutating func append(_ block: [Float], for hosts: Set<String>) {
        self.hosts = hosts
        guard samples.count + block.count <= Self.capacity else {
            dropped += block.count
            return
        }
        samples.append(contentsOf: block)
    }

    /// Reads the next `count` samples into `buffer`; nil while nothing is played.
    mutating func read(into buffer: UnsafeMutablePointer<Float>, count: Int) -> TalkbackQuantum? {
        if !isPlaying {
            guard !samples.isEmpty else { return nil }
            waited += 1
            guard samples.count >= Self.target || waited > Self.longestWait else { return nil }
            waited = 0
            guard samples.count >= count else {
                drop(samples.count)
                return nil
            }
            isPlaying = true
        }
        for index in 0..<count { buffer[index] = samples[index] }
        samples.removeFirst(count)
        isPlaying = samples.count >= count
        let isTooLong = samples.count > Self.longest
        if isTooLong { drop(samples.count - Self.target) }
        return TalkbackQuantum(hosts: hosts, isLast: !isPlaying || isTooLong)
    }

    private mutating func drop(_ count: Int) {
        samples.removeFirst(count)
        dropped += count
    }
}
