import Codecs
import Dispatch
import Media
import NIOCore
import Synchronization

/// One rendition: its own size, its own encoder, the program's sound.
///
/// Pictures and sound come on the program's encoder thread and wait in a bounded queue. `@unchecked Sendable`: what is
/// not behind the lock belongs to the thread that works the queue off.
final class Rung: @unchecked Sendable {
    private let pictures: RungPictures?
    private let sound: MediaPacket
    private let sink: @Sendable (MediaPacket) -> Void
    private let hasThread: Bool
    private let queue: Mutex<RungQueue>
    private let counted: Mutex<RungFigures>
    private let wake = DispatchSemaphore(value: 0)
    private let isClosed = Atomic(false)
    /// How much of its search the encoder should leave out, 0 to 2.
    private let economy = Atomic(0)
    private var thread: WorkerThread?
    private var interleaver = Interleaver()
    private var hasBegun = false
    /// The last picture that was taken, and whether a key picture is due that was not; the program's thread's own.
    private var newest: Int64?
    private var owesKey = false

    /// - Parameters:
    ///   - pictures: Nil for the sound by itself.
    ///   - sound: The configuration of the program's sound.
    ///   - hasThread: Works on a thread of its own; otherwise in the calls.
    init(
        _ name: String,
        pictures: RungPictures?,
        sound: MediaPacket,
        hasThread: Bool,
        sink: @escaping @Sendable (MediaPacket) -> Void
    ) {
        self.pictures = pictures
        self.sound = sound
        self.sink = sink
        self.hasThread = hasThread
        queue = Mutex(RungQueue(canvases: RungPictures.canvasCount))
        counted = Mutex(RungFigures(name: name))
        // Sound by itself waits for no pictures.
        if pictures == nil { interleaver.promisePictures(from: .max) }
        if hasThread { thread = WorkerThread(name: name) { self.run() } }
    }

    var figures: RungFigures {
        var figures = counted.withLock { $0 }
        figures.droppedPictures = queue.withLock { $0.dropped }
        return figures
    }

    // MARK: The program's side

    /// Scales a picture of the program, or of a larger rendition, and lets it be coded.
    ///
    /// - Returns: The picture in this size; nil when it is left out.
    func takePicture(from source: Canvas, index: Int64, isKey: Bool) -> Canvas? {
        guard let pictures else { return nil }
        owesKey = owesKey || isKey
        guard pictures.takes(index, after: newest, isKey: isKey) else { return nil }
        let isKey = owesKey
        guard let number = queue.withLock({ $0.takeCanvas(index: index, isKey: isKey) }) else {
            workOn()
            return nil
        }
        let canvas = pictures.canvases[number]
        do throws(CodecError) {
            try canvas.scale(from: source)
        } catch {
            queue.withLock { queue in
                queue.giveBack(number)
                queue.append(.skipped(index: index))
            }
            counted.withLock { $0.errors += 1 }
            workOn()
            return nil
        }
        queue.withLock { $0.append(.picture(canvas: number, index: index, isKey: isKey)) }
        newest = index
        owesKey = false
        workOn()
        return canvas
    }

    /// Leaves out so much of the encoder's search, 0 to 2, from the next key picture on.
    func economise(to wanted: Int) {
        economy.store(wanted, ordering: .relaxed)
    }

    func takeSound(_ packet: MediaPacket) {
        queue.withLock { $0.append(.sound(packet)) }
        workOn()
    }

    func promiseSounds(from timestamp: Int64) {
        queue.withLock { $0.append(.soundPromise(timestamp)) }
        workOn()
    }

    /// Ends the rendition; returns when its thread has ended.
    func close() {
        isClosed.store(true, ordering: .releasing)
        wake.signal()
        thread?.join()
    }

    private func workOn() {
        if hasThread { wake.signal() } else { while let job = queue.withLock({ $0.next() }) { work(job) } }
    }

    // MARK: The thread's side

    private func run() {
        while true {
            if let job = queue.withLock({ $0.next() }) {
                work(job)
            } else if isClosed.load(ordering: .acquiring) {
                return
            } else {
                wake.wait()
            }
        }
    }

    private func work(_ job: RungQueue.Job) {
        begin()
        switch job {
        case .picture(let canvas, let index, let isKey): encode(canvas, index: index, isKey: isKey)
        case .skipped(let index): promise(after: index)
        case .sound(let packet): interleaver.append(packet)
        case .soundPromise(let timestamp): interleaver.promiseSounds(from: timestamp)
        }
        var bytes: Int64 = 0
        while let packet = interleaver.next() {
            bytes += Int64(packet.body.readableBytes)
            sink(packet)
        }
        if bytes > 0 { counted.withLock { $0.bytes += bytes } }
    }

    /// The decoder configurations come first of all.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        if let pictures { sink(pictures.configuration) }
        sink(sound)
    }

    private func encode(_ canvas: Int, index: Int64, isKey: Bool) {
        guard let pictures else { return }
        let before = MonotonicSleep.threadSeconds()
        if isKey { economise(pictures) }
        let made = pictures.encode(canvas, index: index, isKey: isKey)
        queue.withLock { $0.giveBack(canvas) }
        if let made { interleaver.append(made) }
        promise(after: index)
        let spent = MonotonicSleep.threadSeconds() - before
        counted.withLock { counted in
            counted.encodeSeconds += spent
            counted.pictures += made == nil ? 0 : 1
            counted.errors += made == nil ? 1 : 0
        }
    }

    private func economise(_ pictures: RungPictures) {
        do {
            guard try pictures.economise(to: economy.load(ordering: .relaxed)) else { return }
            counted.withLock { $0.takeovers += 1 }
        } catch {
            counted.withLock { $0.errors += 1 }
        }
    }

    private func promise(after index: Int64) {
        guard let pictures else { return }
        interleaver.promisePictures(from: pictures.timestamp(of: pictures.next(after: index)))
    }
}
