import Dispatch
import Foundation
import HLS
import Media
import Stage
import Synchronization

/// Records one room's program from a start to a stop, on a thread of its own.
///
/// The program's event loop only puts packets into a bounded inbox; nothing it does waits for the disk.
final class RoomRecorder: PacketSink {
    /// What became of the recording; told on its thread, in order.
    enum News: Sendable {
        /// The first file is open.
        case started(RecordedFile)
        /// A file has ended, and the next one is open.
        case rotated(RecordedFile)
        /// All is written that was taken; nothing follows.
        case ended
        /// The disk took no more; nothing follows.
        case failed(String)
    }

    let run: String
    private let room: (sid: String, name: String)
    private let library: RecordingLibrary
    private let configuration: RecordingConfiguration
    private let report: @Sendable (News) -> Void
    private let inbox: Mutex<RecordingInbox>
    private let wake = DispatchSemaphore(value: 0)
    private let present = Mutex<RecordedFile?>(nil)

    /// - Parameters:
    ///   - room: Its sid and its unique name.
    ///   - groupSeconds: Seconds between the program's key pictures.
    init(
        room: (sid: String, name: String),
        groupSeconds: Double,
        library: RecordingLibrary,
        configuration: RecordingConfiguration,
        report: @escaping @Sendable (News) -> Void
    ) {
        run = RecordedFile.makeRun()
        self.room = room
        self.library = library
        self.configuration = configuration
        self.report = report
        inbox = Mutex(RecordingInbox(limit: configuration.queuedBytes))
        let thread = Thread { [self] in
            // The limit of a file's size is an error like any other here, and no reason to end the process.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            write(groupSeconds: groupSeconds)
        }
        thread.name = "recorder"
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// The file that is being written, or was written last.
    var file: RecordedFile? { present.withLock { $0 } }

    /// Packets that were not recorded because the disk was too slow.
    var droppedPackets: Int { inbox.withLock { $0.dropped } }

    /// Takes one packet of the program; never blocks.
    func receive(_ packet: MediaPacket) {
        inbox.withLock { $0.append(packet) }
        wake.signal()
    }

    /// Another mixer has taken over.
    func publisherChanged() {
        inbox.withLock { $0.publisherChanged() }
    }

    /// Ends the recording once what waits is written.
    func finish() {
        inbox.withLock { $0.end() }
        wake.signal()
    }

    // MARK: On the thread

    private func write(groupSeconds: Double) {
        var cutter = RecordingCutter(
            groupSeconds: groupSeconds,
            fileBytes: configuration.fileBytes,
            fileSeconds: configuration.fileSeconds
        )
        var file: RecordingFile?
        do throws(RecordingFault) {
            while true {
                wake.wait()
                for item in inbox.withLock({ $0.takeAll() }) {
                    switch item {
                    case .packet(let packet):
                        for action in cutter.append(packet) { try carryOut(action, &file) }
                    case .gap:
                        cutter.gap()
                    case .end:
                        for action in cutter.finish() { try carryOut(action, &file) }
                        return report(.ended)
                    }
                }
            }
        } catch {
            inbox.withLock { $0.end() }
            file = nil
            close(as: .failed)
            report(.failed(error.description))
        }
    }

    private func carryOut(_ action: RecordingCutter.Action, _ file: inout RecordingFile?) throws(RecordingFault) {
        switch action {
        case .open(let initialization, let age):
            file = try open(initialization, age: age)
        case .write(let fragment, let duration):
            guard let file else { return }
            try file.append(fragment)
            let bytes = file.bytes
            let written = present.withLock { present in
                present?.bytes = bytes
                present?.duration = duration
                return present
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
        present.withLock { $0 = next }
        try opened.append(initialization.data)
        report(last == nil ? .started(next) : .rotated(next))
        return opened
    }

    private func close(as state: RecordedFile.State) {
        let ended = present.withLock { present -> RecordedFile? in
            guard present?.state == .recording else { return nil }
            present?.state = state
            present?.endedAt = Date().timeIntervalSince1970
            return present
        }
        if let ended { library.end(ended) }
    }
}
