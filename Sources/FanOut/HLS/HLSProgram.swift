import Foundation
public import HLS
public import Media
import NIOCore
import Synchronization

/// One program or rendition as HLS: segments the feed and serves all players from the same buffers.
///
/// Packets arrive on the feed's owner loop, requests on any loop; a lock protects the shared state. A playlist is
/// rendered once per change, not once per request. A request for media that is not there yet waits in the queue of
/// its own loop, and is answered when the part arrives.
public final class HLSProgram: PacketSink {
    /// The random part of this run's segment URIs, so that caches do not mix two runs.
    let run: String

    private typealias LoopQueue = (loop: any EventLoop, box: NIOLoopBoundBox<BlockingReloadQueue>)

    private struct State: ~Copyable {
        var segmenter: Segmenter
        var playlist: MediaPlaylist
        var renderer = PlaylistRenderer()
        /// Whether the first segment has its number.
        var hasBegun = false
        /// The latest configuration of each kind; an encoder may not repeat them.
        var configurations: [MediaPacket] = []
        /// Tags the names of the files of a private program; nil for a public one.
        var tag: FileTag?
        /// One queue for each loop on which a request has waited.
        var queues: [LoopQueue] = []
    }

    private let configuration: HLSConfiguration
    private let clock: RenditionClock?
    private let playlistName: String
    private let isRendition: Bool
    private let isContinuation: Bool
    private let state: Mutex<State>

    /// Creates a program without renditions.
    public convenience init(configuration: HLSConfiguration) {
        self.init(configuration: configuration, clock: nil)
    }

    /// - Parameters:
    ///   - clock: The clock shared with other renditions; nil for a program without any.
    ///   - rendition: The name of the rendition; nil for the program itself.
    ///   - first: The number of the first segment; ignored if there is a clock.
    ///   - isContinuation: Whether players may know segments of an earlier run.
    init(
        configuration: HLSConfiguration,
        clock: RenditionClock?,
        rendition: String? = nil,
        first: Int = 0,
        isContinuation: Bool = false
    ) {
        self.isContinuation = isContinuation
        run = String(UInt64.random(in: .min ... .max), radix: 36)
        self.configuration = configuration
        self.clock = clock
        playlistName = (rendition ?? "media") + ".m3u8"
        isRendition = rendition != nil
        // Discontinuities are numbered like segments, so that their sequence does not decrease over runs.
        let playlist = MediaPlaylist(configuration, discontinuitySequence: first)
        let segmenter = Segmenter(configuration, firstSequence: first, isContinuation: isContinuation)
        state = Mutex(State(segmenter: segmenter, playlist: playlist))
    }

    // MARK: Input

    /// Receives the next packet of the program.
    public func receive(_ packet: MediaPacket) {
        let now = Date().timeIntervalSince1970
        let queues = state.withLock { state -> [LoopQueue] in
            if let clock { count(packet, from: clock, &state) }
            return apply(state.segmenter.append(packet), now: now, &state)
        }
        release(queues)
    }

    /// Numbers segments like the other renditions, from the first packet that can start a segment.
    ///
    /// A stalled rendition restarts with a new number, because its players have been closed meanwhile.
    private func count(_ packet: MediaPacket, from clock: RenditionClock, _ state: inout State) {
        if packet.isConfiguration {
            state.configurations.removeAll { $0.isVideo == packet.isVideo }
            state.configurations.append(packet)
        }
        let hasVideo = state.configurations.contains(where: \.isVideo)
        guard packet.isKeyframe || (!hasVideo && packet.content == .audio(.aac)) else { return }
        guard let first = firstSequence(at: packet.timestamp, from: clock, state) else { return }
        // A rendition that starts later than the program follows the program's discontinuity.
        let isContinuation = isContinuation && !state.hasBegun && first == clock.first
        state.hasBegun = true
        state.segmenter = Segmenter(configuration, firstSequence: first, isContinuation: isContinuation)
        let discontinuities = clock.discontinuities(until: isContinuation ? first - 1 : first)
        state.playlist = MediaPlaylist(configuration, discontinuitySequence: discontinuities)
        state.renderer.invalidate()
        for configuration in state.configurations { _ = state.segmenter.append(configuration) }
    }

    /// Returns the number of the first segment, or of the first one after a stall; nil for all others.
    private func firstSequence(at timestamp: Int64, from clock: RenditionClock, _ state: borrowing State) -> Int? {
        guard state.hasBegun else { return clock.firstSequence(at: timestamp) }
        return isRendition ? clock.resumption(of: playlistName, at: timestamp) : nil
    }

    /// Applies the segmenter's output; returns the queues in which requests may wait for it.
    private func apply(_ outputs: [SegmenterOutput], now: Double, _ state: inout State) -> [LoopQueue] {
        guard !outputs.isEmpty else { return [] }
        for output in outputs { state.playlist.append(output, wallClock: wallClock(of: output, now: now)) }
        if let clock {
            for case .part(let part) in outputs { clock.recordPart(part, to: playlistName, isProgram: !isRendition) }
        }
        state.renderer.invalidate()
        return state.queues
    }

    private func wallClock(of output: SegmenterOutput, now: Double) -> Double {
        guard let clock, case .part(let part) = output else { return now }
        return clock.date(of: part.start + part.duration, now: now)
    }

    private func release(_ queues: [LoopQueue]) {
        for queue in queues {
            queue.loop.execute { queue.box.value.release() }
        }
    }

    /// Starts a discontinuity at the next keyframe.
    public func publisherChanged() {
        state.withLock { $0.segmenter.discontinuity() }
    }

    /// Sets whether the files have names that cannot be guessed, as those of a private program.
    func setPrivate(_ isPrivate: Bool) {
        state.withLock { state in
            guard (state.tag != nil) != isPrivate else { return }
            state.tag = isPrivate ? FileTag() : nil
            state.renderer.invalidate()
        }
    }

    /// Ends the program and its playlist.
    public func end() {
        let now = Date().timeIntervalSince1970
        let queues = state.withLock { state -> [LoopQueue] in
            _ = apply(state.segmenter.finish(), now: now, &state)
            state.playlist.end()
            state.renderer.invalidate()
            return state.queues
        }
        release(queues)
    }

    // MARK: Playlists

    /// The result of a request for the media playlist.
    enum PlaylistResult {
        case playlist(ByteBuffer, isCompressed: Bool)
        /// There is no complete segment yet.
        case notYet
        /// The request blocks until more media arrives.
        case later
        /// The requested media sequence number is too far ahead.
        case tooFar
    }

    /// Returns the current media playlist; nil before the first complete segment.
    func mediaPlaylist() -> ByteBuffer? {
        guard case .playlist(let playlist, _) = mediaPlaylist(.none) else { return nil }
        return playlist
    }

    /// Returns the media playlist, if it satisfies the delivery directives.
    func mediaPlaylist(_ directives: DeliveryDirectives, isCompressed: Bool = false) -> PlaylistResult {
        state.withLock { state in
            guard state.playlist.isPlayable else { return .notYet }
            switch state.playlist.readiness(for: directives) {
            case .later: return .later
            case .tooFar: return .tooFar
            case .ready: break
            }
            let form = PlaylistRenderer.Form(isDelta: directives.isDelta, isCompressed: isCompressed)
            let reports = clock?.reports(beside: playlistName) ?? []
            let renderer = state.renderer.text(form) { [playlist = state.playlist, tag = state.tag] isDelta in
                playlist.render(
                    prefix: run + "/",
                    tag: tag,
                    isLowLatency: true,
                    isDelta: isDelta,
                    reports: reports
                )
            }
            return .playlist(renderer.text, isCompressed: renderer.form.isCompressed)
        }
    }

    /// Describes the program for the multivariant playlist; nil before the first segment.
    func variant(uri: String) -> MultivariantPlaylist.Variant? {
        state.withLock { state in
            guard let bandwidth = state.playlist.peakBandwidth, let format = state.playlist.initialization else {
                return nil
            }
            return MultivariantPlaylist.Variant(
                bandwidth: bandwidth,
                averageBandwidth: state.playlist.averageBandwidth,
                width: format.width,
                height: format.height,
                frameRate: format.frameRate,
                codecs: format.codecs,
                mediaURI: uri,
                isIndependent: state.playlist.isIndependent
            )
        }
    }

    /// Whether this is a rendition whose segments are missing while the program continues.
    var isStalled: Bool {
        isRendition && (clock?.isStalled(playlistName) ?? false)
    }

    /// The bytes of stored media.
    var storedBytes: Int { state.withLock { $0.playlist.storedBytes } }

    /// Whether the program has ended.
    var isEnded: Bool { state.withLock { $0.playlist.isEnded } }

    /// The number of listed segments.
    var segmentCount: Int { state.withLock { $0.playlist.segments.count } }

    // MARK: Files

    /// The result of a request for a file.
    enum FileResult {
        case file([ByteBuffer])
        /// The file is the part announced by the preload hint.
        case announced(PartPosition)
    }

    /// Returns an initialization segment, a media segment or a part; nil if it does not exist or has expired.
    func file(named name: String) -> FileResult? {
        state.withLock { state in
            guard let name = state.tag.map({ $0.plainName(name) }) ?? name else { return nil }
            if let media = state.playlist.file(named: name) { return .file(media) }
            return state.playlist.announcedPart(named: name).map { .announced($0) }
        }
    }

    /// Returns a part that a request has waited for; nil if it did not come, or has expired.
    func part(at position: PartPosition) -> [ByteBuffer]? {
        state.withLock { $0.playlist.file(named: position.name) }
    }

    // MARK: Waiting

    /// Returns the queue in which a request waits for `target`; nil if the target has been reached meanwhile.
    ///
    /// Add the request to the queue at once: parts that arrive after this call release the queue in a later turn.
    func queue(for target: BlockingReloadTarget, on loop: any EventLoop) -> BlockingReloadQueue? {
        state.withLock { state -> NIOLoopBoundBox<BlockingReloadQueue>? in
            guard !Self.isReady(target, state.playlist) else { return nil }
            if let queue = state.queues.first(where: { $0.loop === loop }) { return queue.box }
            let queue = BlockingReloadQueue(loop: loop) { [weak self] target in self?.isReady(target) ?? true }
            let box = NIOLoopBoundBox(queue, eventLoop: loop)
            state.queues.append((loop, box))
            return box
        }?.value
    }

    private func isReady(_ target: BlockingReloadTarget) -> Bool {
        state.withLock { Self.isReady(target, $0.playlist) }
    }

    private static func isReady(_ target: BlockingReloadTarget, _ playlist: MediaPlaylist) -> Bool {
        switch target {
        case .beginning: playlist.isPlayable || playlist.isEnded
        case .playlist(let directives): playlist.readiness(for: directives) != .later
        case .part(let position): position < playlist.nextPart || playlist.isEnded
        }
    }

    /// The timeout of a waiting request.
    var blockingReloadTimeout: TimeAmount { .milliseconds(Int64(configuration.blockingReloadTimeout * 1000)) }

    /// The target duration in seconds.
    var targetDuration: Int { configuration.targetDuration }
}

/// Caches a media playlist in its rendered forms until it changes.
struct PlaylistRenderer {
    /// A rendered form.
    struct Form: Hashable {
        /// Whether the form is a delta update.
        var isDelta = false
        /// Whether the form is gzip-compressed.
        var isCompressed = false
    }

    private var forms: [Form: ByteBuffer] = [:]

    /// Returns the playlist in a form, uncompressed if compression fails; calls `render` unless the form is cached.
    mutating func text(_ form: Form, render: (_ isDelta: Bool) -> ByteBuffer) -> (text: ByteBuffer, form: Form) {
        if let text = forms[form] { return (text, form) }
        let plainForm = Form(isDelta: form.isDelta)
        let plain = forms[plainForm] ?? render(form.isDelta)
        forms[plainForm] = plain
        guard form.isCompressed, let compressed = Gzip.compress(plain) else { return (plain, plainForm) }
        forms[form] = compressed
        return (compressed, form)
    }

    /// Discards the rendered forms.
    mutating func invalidate() {
        forms.removeAll(keepingCapacity: true)
    }
}
