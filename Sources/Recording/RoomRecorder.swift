import Dispatch
import Foundation
import HLS
import Media
import NIOCore
import Stage
import Synchronization

/// Records one room's program from start to stop, on its own thread.
///
/// The program's event loop only appends to a bounded queue and never blocks on the disk.
final class RoomRecorder: PacketSink {
    /// A change of the recording, reported in order on its thread.
    enum Event: Sendable {
        /// The first file is open.
        case started(RecordedFile)
        /// A file ended, and the next one is open.
        case rotated(RecordedFile)
        /// All packets are written; the last event.
        case ended
        /// Writing failed; the last event.
        case failed(String)
    }

    let run: String
    private let room: (sid: String, name: String)
    private let library: RecordingStore
    private let configuration: RecordingConfiguration
    private let report: @Sendable (Event) -> Void
    private let queue: Mutex<RecordingQueue>
    private let wake = DispatchSemaphore(value: 0)
    private let current = Mutex<RecordedFile?>(nil)

    /// - Parameters:
    ///   - room: The sid and the unique name of the room.
    ///   - gopSeconds: The keyframe interval of the program in seconds.
    init(
        room: (sid: String, name: String),
        gopSeconds: Double,
        library: RecordingStore,
        configuration: RecordingConfiguration,
        report: @escaping @Sendable (Event) -> Void
    ) {
        run = RecordedFile.makeRun()
        self.room = room
        self.library = library
        self.configuration = configuration
        self.report = report
        queue = Mutex(RecordingQueue(limit: configuration.queuedBytes))
        let thread = WorkerThread(name: "recorder", stackSize: WorkerThread.smallStack) { [self] in
            write(gopSeconds: gopSeconds)
        }
        guard !thread.hasStarted else { return }
        queue.withLock { $0.end() }
        // Later, because the caller may hold the lock that the report takes.
        DispatchQueue.global().async { report(.failed("no thread left")) }
    }

    /// The current file, or the last one.
    var file: RecordedFile? { current.withLock { $0 } }

    /// The number of packets dropped because the disk was too slow.
    var droppedPackets: Int { queue.withLock { $0.dropped } }

    /// Queues a packet; never blocks.
    func receive(_ packet: MediaPacket) {
        queue.withLock { $0.append(packet) }
        wake.signal()
    }

    /// Marks a change of the mixer.
    func publisherChanged() {
        queue.withLock { $0.publisherChanged() }
    }

    /// Ends the recording once the queued packets are written.
    func finish() {
        queue.withLock { $0.end() }
        wake.signal()
    }

    // MARK: Recording thread

    private func write(gopSeconds: Double) {
        var splitter = RecordingSplitter(
            gopSeconds: gopSeconds,
            fileBytes: configuration.fileBytes,
            fileSeconds: configuration.fileSeconds
        )
        var file: RecordingFile?
        do throws(RecordingFault) {
            while true {
                wake.wait()
                for item in queue.withLock({ $0.drain() }) {
                    switch item {
                    case .packet(let packet):
                        for action in splitter.append(packet) { try perform(action, &file) }
                    case .gap:
                        splitter.gap()
                    case .end:
                        for action in splitter.finish() { try perform(action, &file) }
                        return report(.ended)
                    }
                }
            }
        } catch {
            queue.withLock { $0.end() }
            file = nil
            close(as: .failed)
            report(.failed(error.description))
        }
    }

    private func perform(_ action: RecordingSplitter.Action, _ file: inout RecordingFile?) throws(RecordingFault) {
        switch action {
        case .open(let initialization, let age):
            file = try open(initialization, age: age)
        case .write(let fragment, let duration):
            guard let file else { return }
            try file.append(fragment)
            let bytes = file.bytes
            let written = current.withLock { current in
                current?.bytes = bytes
                current?.duration = duration
                return current
            }
            if let written { library.update(written) }
        case .close:
            file = nil
            close(as: .completed)
        }
    }

    private func open(_ initialization: Initialization, age: Double) throws(RecordingFault) -> RecordingFile {
        let last = self.file
        let next = RecordedFile(
            sid: RecordedFile.makeSID(),
            run: run,
            part: (last?.part ?? 0) + 1,
            roomSID: room.sid,
            roomName: room.name,
            startedAt: Date().timeIntervalSince1970 - max(age, 0),
            width: initialization.width,
            height: initialization.height,
            codecs: initialization.codecs
        )
        let opened = try library.begin(next)
        current.withLock { $0 = next }
        try opened.append(initialization.data)
        report(last == nil ? .started(next) : .rotated(next))
        return opened
    }

    private func close(as state: RecordedFile.State) {
        let ended = current.withLock { current -> RecordedFile? in
            guard current?.state == .recording else { return nil }
            current?.state = state
            current?.endedAt = Date().timeIntervalSince1970
            return current
        }
        if let ended { library.end(ended) }
    }
}

/// The packets waiting for the disk, in feed order and limited in bytes.
///
/// If the limit is reached, the current GOP is dropped completely, including its audio and everything up to the next
/// keyframe, since a partial GOP could not be decoded to its end. Configurations are never dropped. Unlike a
/// `CongestionQueue` it has no limit in time and drops the newest packets, because a file need not be close to real time.
struct RecordingQueue: Sendable {
    enum Item: Sendable {
        case packet(MediaPacket)
        /// A discontinuity: packets are missing, or another mixer has taken over.
        case gap
        /// The end of the recording.
        case end
    }

    private var items: [Item] = []
    private var bytes = 0
    private var isSkipping = false
    private var hasEnded = false
    private let limit: Int
    /// The number of packets dropped before or after they were queued.
    private(set) var dropped = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func append(_ packet: MediaPacket) {
        guard !hasEnded else { return }
        if packet.isConfiguration {
            items.append(.packet(packet))
            return
        }
        if isSkipping {
            guard packet.isKeyframe, fits(packet) else {
                dropped += 1
                return
            }
            isSkipping = false
            items.append(.gap)
        } else if !fits(packet) {
            isSkipping = true
            dropped += 1
            if !packet.isKeyframe { dropNewestGOP() }
            return
        }
        bytes += packet.body.readableBytes
        items.append(.packet(packet))
    }

    mutating func publisherChanged() {
        if !hasEnded { items.append(.gap) }
    }

    mutating func end() {
        guard !hasEnded else { return }
        hasEnded = true
        items.append(.end)
    }

    /// Removes and returns all items.
    mutating func drain() -> [Item] {
        defer {
            items = []
            bytes = 0
        }
        return items
    }

    private func fits(_ packet: MediaPacket) -> Bool {
        bytes + packet.body.readableBytes <= limit
    }

    /// Removes the queued packets of the newest GOP.
    private mutating func dropNewestGOP() {
        var retained: [Item] = []
        while let item = items.popLast() {
            guard case .packet(let packet) = item, !packet.isConfiguration else {
                retained.append(item)
                continue
            }
            bytes -= packet.body.readableBytes
            dropped += 1
            if packet.isKeyframe { break }
        }
        items += retained.reversed()
    }
}
