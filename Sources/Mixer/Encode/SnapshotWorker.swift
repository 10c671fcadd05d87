import Codecs
import Media
import NIOCore
import Synchronization

/// Makes image files of the program on request.
///
/// The encoder's thread only copies the newest canvas when a request waits; a thread of its own encodes the file. There
/// is no cost without requests.
final class SnapshotWorker: Sendable {
    typealias Completion = @Sendable (ByteBuffer?) -> Void

    private struct Request: Sendable {
        let snapshot: Snapshot
        let completion: Completion
    }

    /// The maximum number of requests that wait for the next frame; further ones are answered with nil.
    private static let maximumRequests = 8

    private let requests = Mutex<[Request]>([])
    private let isBusy = Atomic(false)
    private let isRequested = Atomic(false)

    /// Requests a file; `completion` is called on another thread, with nil when none can be made.
    func requestSnapshot(_ snapshot: Snapshot, completion: @escaping Completion) {
        let isAccepted = requests.withLock { requests in
            guard requests.count < Self.maximumRequests else { return false }
            requests.append(Request(snapshot: snapshot, completion: completion))
            return true
        }
        guard isAccepted else { return completion(nil) }
        isRequested.store(true, ordering: .releasing)
    }

    /// Copies a finished frame if a request waits.
    func show(_ canvas: Canvas) {
        guard isRequested.load(ordering: .acquiring), !isBusy.load(ordering: .acquiring) else { return }
        let pending = requests.withLock { requests in
            isRequested.store(false, ordering: .releasing)
            defer { requests.removeAll() }
            return requests
        }
        guard !pending.isEmpty else { return }
        guard let copy = try? Canvas(width: canvas.width, height: canvas.height) else {
            for request in pending { request.completion(nil) }
            return
        }
        copy.copy(copy.bounds, from: canvas)
        isBusy.store(true, ordering: .releasing)
        let worker = WorkerThread(name: "snapshot") {
            for request in pending { request.completion(try? Self.file(of: copy, request.snapshot)) }
            self.isBusy.store(false, ordering: .releasing)
        }
        guard !worker.hasStarted else { return }
        isBusy.store(false, ordering: .releasing)
        for request in pending { request.completion(nil) }
    }

    /// Answers the waiting requests with nil; no frame follows.
    func close() {
        for request in requests.withLock({ requests in
            defer { requests.removeAll() }
            return requests
        }) { request.completion(nil) }
    }

    private static func file(of canvas: Canvas, _ snapshot: Snapshot) throws(CodecError) -> ByteBuffer {
        var scaled = canvas
        if let width = snapshot.width, width < canvas.width {
            let wide = max(width & ~1, 16)
            let high = max((wide * canvas.height / canvas.width + 1) & ~1, 16)
            scaled = try Canvas(width: wide, height: high)
            try scaled.scale(from: canvas)
        }
        return try scaled.file(snapshot.format)
    }
}

extension Canvas {
    /// The canvas as an image file.
    func file(_ format: Snapshot.Format) throws(CodecError) -> ByteBuffer {
        switch format {
        case .jpeg: try jpeg()
        case .png: try png()
        }
    }
}

/// The format and size of an image file of the program.
public struct Snapshot: Sendable, Hashable {
    /// The image file format.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case jpeg = "jpg"
        case png
    }

    /// The image file format.
    public var format: Format
    /// The width in pixels, at most the program's own; nil for that.
    public var width: Int?

    /// Makes a snapshot description.
    public init(_ format: Format, width: Int? = nil) {
        self.format = format
        self.width = width
    }
}
