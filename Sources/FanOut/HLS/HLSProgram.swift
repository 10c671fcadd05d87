import Foundation
public import HLS
public import Media
import NIOCore
import Synchronization

/// One room's program as HLS: cuts the feed into segments and answers every player from the same buffers.
///
/// Packets come on the feed's home loop, requests on any loop; a lock guards the little they share, and a playlist is
/// written down once per change, not once per request. A request for what is not there yet waits in the line of its own
/// loop, and is answered when the part comes.
public final class HLSProgram: PacketSink {
    /// The unguessable part of this run's segment addresses, which keeps caches from mixing two runs.
    let run: String

    private typealias Line = (loop: any EventLoop, box: NIOLoopBoundBox<HLSWaitingLine>)

    private struct State: ~Copyable {
        var segmenter: Segmenter
        var playlist: MediaPlaylist
        var printed = HLSPrint()
        /// The first segment has its number.
        var hasBegun = false
        /// The latest of each kind; an encoder that rests does not say them again.
        var configurations: [MediaPacket] = []
        /// One for each loop on which a request ever waited.
        var lines: [Line] = []
    }

    private let configuration: HLSConfiguration
    private let clock: RenditionClock?
    private let playlistName: String
    private let isRendition: Bool
    private let isContinuation: Bool
    private let state: Mutex<State>

    /// Makes one by itself.
    public convenience init(configuration: HLSConfiguration) {
        self.init(configuration: configuration, clock: nil)
    }

    /// - Parameters:
    ///   - clock: What it has in common with other renditions; nil for a program without any.
    ///   - rendition: The name of the rendition that it is; nil for the program itself.
    ///   - first: The number of its first segment; where there is a clock, that says it.
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
        // Discontinuities are numbered as the segments are, so that they rise over runs too.
        let playlist = MediaPlaylist(configuration, discontinuitySequence: first)
        let segmenter = Segmenter(configuration, firstSequence: first, isContinuation: isContinuation)
        state = Mutex(State(segmenter: segmenter, playlist: playlist))
    }

    // MARK: In

    /// Takes the next packet of the program.
    public func receive(_ packet: MediaPacket) {
        let now = Date().timeIntervalSince1970
        let lines = state.withLock { state -> [Line] in
            if let clock { count(packet, from: clock, &state) }
            return take(state.segmenter.append(packet), now: now, &state)
        }
        release(lines)
    }

    /// Numbers segments as the other renditions do, from the first packet on that a segment can begin with.
    ///
    /// A rendition that stood still goes on as one that begins then: its players were sent away meanwhile.
    private func count(_ packet: MediaPacket, from clock: RenditionClock, _ state: inout State) {
        if packet.isConfiguration {
            state.configurations.removeAll { $0.isVideo == packet.isVideo }
            state.configurations.append(packet)
        }
        let hasVideo = state.configurations.contains(where: \.isVideo)
        guard packet.isKeyPicture || (!hasVideo && packet.content == .sound(.aac)) else { return }
        guard let first = firstSequence(at: packet.timestamp, from: clock, state) else { return }
        // A rendition that comes later than the program has the program's discontinuity behind it.
        let isContinuation = isContinuation && !state.hasBegun && first == clock.first
        state.hasBegun = true
        state.segmenter = Segmenter(configuration, firstSequence: first, isContinuation: isContinuation)
        let discontinuities = clock.discontinuities(until: isContinuation ? first - 1 : first)
        state.playlist = MediaPlaylist(configuration, discontinuitySequence: discontinuities)
        state.printed.forget()
        for configuration in state.configurations { _ = state.segmenter.append(configuration) }
    }

    /// The number of a segment that is the first, or the first again; nil for all others.
    private func firstSequence(at timestamp: Int64, from clock: RenditionClock, _ state: borrowing State) -> Int? {
        guard state.hasBegun else { return clock.firstSequence(at: timestamp) }
        return isRendition ? clock.resumption(of: playlistName, at: timestamp) : nil
    }

    /// Takes what the segmenter made; gives the lines in which somebody may have waited for it.
    private func take(_ outputs: [SegmenterOutput], now: Double, _ state: inout State) -> [Line] {
        guard !outputs.isEmpty else { return [] }
        for output in outputs { state.playlist.append(output, wallClock: wallClock(of: output, now: now)) }
        if let clock {
            for case .part(let part) in outputs { clock.came(part, to: playlistName, isProgram: !isRendition) }
        }
        state.printed.forget()
        return state.lines
    }

    private func wallClock(of output: SegmenterOutput, now: Double) -> Double {
        guard let clock, case .part(let part) = output else { return now }
        return clock.date(of: part.start + part.duration, now: now)
    }

    private func release(_ lines: [Line]) {
        for line in lines {
            line.loop.execute { line.box.value.release() }
        }
    }

    /// The next key picture begins a new continuity.
    public func publisherChanged() {
        state.withLock { $0.segmenter.discontinuity() }
    }

    /// The program is over: players see the end of the list.
    public func end() {
        let now = Date().timeIntervalSince1970
        let lines = state.withLock { state -> [Line] in
            _ = take(state.segmenter.finish(), now: now, &state)
            state.playlist.end()
            state.printed.forget()
            return state.lines
        }
        release(lines)
    }

    // MARK: Playlists

    /// What there is to be said to a request for the media playlist.
    enum PlaylistAnswer {
        case playlist(ByteBuffer, isCompressed: Bool)
        /// There is no whole segment yet.
        case notYet
        /// It is to be asked again when more media has come.
        case later
        /// The request is for something too far ahead.
        case tooFar
    }

    /// The media playlist as it stands; nil before the first whole segment.
    func mediaPlaylist() -> ByteBuffer? {
        guard case .playlist(let playlist, _) = mediaPlaylist(.none) else { return nil }
        return playlist
    }

    /// The media playlist, if it is what the directives ask for.
    func mediaPlaylist(_ directives: DeliveryDirectives, isCompressed: Bool = false) -> PlaylistAnswer {
        state.withLock { state in
            guard state.playlist.isPlayable else { return .notYet }
            switch state.playlist.readiness(for: directives) {
            case .later: return .later
            case .tooFar: return .tooFar
            case .ready: break
            }
            let form = HLSPrint.Form(isDelta: directives.isDelta, isCompressed: isCompressed)
            let reports = clock?.reports(beside: playlistName) ?? []
            let printed = state.printed.text(form) { [playlist = state.playlist] isDelta in
                playlist.render(prefix: run + "/", isLowLatency: true, isDelta: isDelta, reports: reports)
            }
            return .playlist(printed.text, isCompressed: printed.form.isCompressed)
        }
    }

    /// How the multivariant playlist describes it, its media playlist at `uri`; nil before the first segment.
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

    /// It is a rendition whose segments have not come for a while, though the program's have.
    var standsStill: Bool {
        isRendition && (clock?.standsStill(playlistName) ?? false)
    }

    /// Bytes of media that are kept.
    var storedBytes: Int { state.withLock { $0.playlist.storedBytes } }

    /// No segment will come any more.
    var isEnded: Bool { state.withLock { $0.playlist.isEnded } }

    /// Segments that are listed.
    var segmentCount: Int { state.withLock { $0.playlist.segments.count } }

    // MARK: Files

    /// What there is to be said to a request for a file.
    enum FileAnswer {
        case file([ByteBuffer])
        /// It is the part that the playlist announces, and is being made.
        case announced(PartPosition)
    }

    /// An initialization, a media segment or a part; nil for what does not exist, or not any more.
    func file(named name: String) -> FileAnswer? {
        state.withLock { state in
            if let media = state.playlist.file(named: name) { return .file(media) }
            return state.playlist.announcedPart(named: name).map { .announced($0) }
        }
    }

    // MARK: Waiting

    /// The line of a loop for a request that is to wait for `target`; nil when that has come meanwhile.
    ///
    /// The request is to be added to it at once: what comes after this call is told to the line in a later turn.
    func line(for target: HLSWaitTarget, on loop: any EventLoop) -> HLSWaitingLine? {
        state.withLock { state -> NIOLoopBoundBox<HLSWaitingLine>? in
            guard !Self.isReady(target, state.playlist) else { return nil }
            if let line = state.lines.first(where: { $0.loop === loop }) { return line.box }
            let line = HLSWaitingLine(loop: loop) { [weak self] target in self?.isReady(target) ?? true }
            let box = NIOLoopBoundBox(line, eventLoop: loop)
            state.lines.append((loop, box))
            return box
        }?.value
    }

    private func isReady(_ target: HLSWaitTarget) -> Bool {
        state.withLock { Self.isReady(target, $0.playlist) }
    }

    private static func isReady(_ target: HLSWaitTarget, _ playlist: MediaPlaylist) -> Bool {
        switch target {
        case .beginning: playlist.isPlayable || playlist.isEnded
        case .playlist(let directives): playlist.readiness(for: directives) != .later
        case .part(let position): position < playlist.nextPart || playlist.isEnded
        }
    }

    /// The longest that a request may wait.
    var longestWait: TimeAmount { .milliseconds(Int64(configuration.longestWait * 1000)) }

    /// Seconds of a segment, at most.
    var targetDuration: Int { configuration.targetDuration }
}
