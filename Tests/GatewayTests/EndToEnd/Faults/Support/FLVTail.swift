import FootlightTesting
import Foundation
import Media
import NIOCore
import Synchronization

/// Reads an FLV file while another process writes it, and notes when each packet got there.
final class FLVTail: Sendable {
    /// A packet in the file.
    struct Arrival: Sendable {
        enum Kind: Sendable {
            case key
            case picture
            case sound
            /// Configuration and metadata.
            case other
        }

        let kind: Kind
        /// Milliseconds on the stream's own clock.
        let timestamp: Int64
        /// When this process saw it.
        let time: MonotonicTime

        var isPicture: Bool { kind == .key || kind == .picture }
    }

    private let arrivals = Mutex<[Arrival]>([])
    private let reader = Mutex<Task<Void, Never>?>(nil)

    /// Follows the file, which need not exist yet.
    init(path: String) {
        let task = Task { [weak self] in
            var handle: FileHandle?
            var buffer = ByteBuffer()
            var isHeaderRead = false
            while !Task.isCancelled, self != nil {
                handle = handle ?? FileHandle(forReadingAtPath: path)
                if let data = try? handle?.readToEnd(), !data.isEmpty {
                    buffer.writeBytes(data)
                    if !isHeaderRead { isHeaderRead = buffer.readSlice(length: 13) != nil }
                    while isHeaderRead, let arrival = FLVTail.next(&buffer) {
                        self?.arrivals.withLock { $0.append(arrival) }
                    }
                    buffer.discardReadBytes()
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        reader.withLock { $0 = task }
    }

    deinit { reader.withLock { $0?.cancel() } }

    /// Everything so far.
    var all: [Arrival] { arrivals.withLock { $0 } }

    /// Waits for the first key picture that got there after `time`.
    func keyPicture(after time: MonotonicTime, within deadline: Duration) async throws -> Arrival? {
        var found: Arrival?
        _ = try await eventually(within: deadline, every: .milliseconds(5)) {
            found = self.all.first { $0.kind == .key && $0.time > time }
            return found != nil
        }
        return found
    }

    /// Steps from one packet's timestamp to the next one's, in milliseconds.
    func steps(_ isMeant: (Arrival) -> Bool) -> [Int64] {
        let times = all.filter(isMeant).map(\.timestamp)
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }

    /// Whether a step is a whole number of pictures, of which a program has 30 a second, in whole milliseconds.
    static func isWholePictures(_ step: Int64) -> Bool { (step * 3 + 2) % 100 <= 4 }

    /// The longest time in seconds between two pictures as they came.
    var longestWait: Double {
        let times = all.filter(\.isPicture).map(\.time)
        return zip(times, times.dropFirst()).map { $1.seconds(since: $0) }.max() ?? 0
    }

    /// One tag (Adobe FLV specification 10.1, annex E), or nil while it is not whole.
    private static func next(_ buffer: inout ByteBuffer) -> Arrival? {
        let start = buffer.readerIndex
        guard let head: UInt32 = buffer.getInteger(at: start), let word: UInt32 = buffer.getInteger(at: start + 4),
            buffer.readableBytes >= 15 + Int(head & 0xFF_FFFF)
        else { return nil }
        let first: UInt8 = buffer.getInteger(at: start + 11) ?? 0
        let second: UInt8 = buffer.getInteger(at: start + 12) ?? 0
        buffer.moveReaderIndex(forwardBy: 15 + Int(head & 0xFF_FFFF))
        let kind: Arrival.Kind =
            switch (head >> 24 & 0x1F, second) {
            case (9, 1): first >> 4 == 1 ? .key : .picture
            case (8, 1): .sound
            default: .other
            }
        return Arrival(kind: kind, timestamp: Int64(word >> 8 | (word & 0xFF) << 24), time: .now())
    }
}
