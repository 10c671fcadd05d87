import Codecs
import Media
import NIOCore
import Synchronization

/// The newest keyframe that a host has sent, with the configuration of its decoder.
struct HostKeyframe: Sendable {
    var configuration: MediaPacket
    var packet: MediaPacket
}

/// Makes image files of single hosts on request, each from the host's newest keyframe.
///
/// It shows a host that is not in the program as well, such as before the show. A thread that exists while requests wait
/// decodes, so that there is no cost without requests, and the hosts' own decoders are not disturbed.
final class HostSnapshotWorker: Sendable {
    private struct Request: Sendable {
        let keyframe: HostKeyframe
        let snapshot: Snapshot
        let marker: DecodeMarker?
        let completion: SnapshotWorker.Completion
    }

    private struct State {
        var requests: [Request] = []
        var isRunning = false
    }

    /// The maximum number of requests that wait; further ones are answered with nil.
    private static let maximumRequests = 32
    /// The width in pixels of an image for which none is asked.
    private static let usualWidth = 320

    private let state = Mutex(State())

    /// Requests a file; `completion` is called on another thread, with nil when none can be made.
    ///
    /// - Parameter marker: Marks that this host's media is being decoded.
    func requestSnapshot(
        of keyframe: HostKeyframe,
        _ snapshot: Snapshot,
        marker: DecodeMarker?,
        completion: @escaping SnapshotWorker.Completion
    ) {
        let request = Request(keyframe: keyframe, snapshot: snapshot, marker: marker, completion: completion)
        let (isAccepted, isFirst) = state.withLock { state in
            guard state.requests.count < Self.maximumRequests else { return (false, false) }
            state.requests.append(request)
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        guard isAccepted else { return completion(nil) }
        guard isFirst else { return }
        if !WorkerThread(name: "host snapshot", body: run).hasStarted {
            let requests = state.withLock { state in
                defer { state = State() }
                return state.requests
            }
            for request in requests { request.completion(nil) }
        }
    }

    private func run() {
        while let request = next() {
            request.marker?.begin()
            let file = try? Self.file(of: request.keyframe, request.snapshot)
            request.marker?.end()
            request.completion(file)
        }
    }

    private func next() -> Request? {
        state.withLock { state in
            guard !state.requests.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.requests.removeFirst()
        }
    }

    private static func file(of keyframe: HostKeyframe, _ snapshot: Snapshot) throws(CodecError) -> ByteBuffer? {
        var decoder = try VideoDecoder(configuration: keyframe.configuration)
        var decoded: VideoFrame?
        try decoder.decode(keyframe.packet) { decoded = $0 }
        if decoded == nil { decoder.flush { decoded = $0 } }
        guard let frame = decoded else { return nil }
        let width = max(min(snapshot.width ?? usualWidth, frame.width) & ~1, 16)
        let height = min(max((width * frame.height / max(frame.width, 1) + 1) & ~1, 16), FrameLimits.side)
        let canvas = try Canvas(width: width, height: height)
        try canvas.draw(frame, in: canvas.bounds)
        return try canvas.file(snapshot.format)
    }
}
