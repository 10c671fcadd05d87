import Foundation
public import HLS
public import Media
import NIOCore
import Synchronization

/// One room's program as HLS: cuts the feed into segments and answers every player from the same buffers.
///
/// Packets come on the feed's home loop, requests on any loop; a lock guards the little they share, and a playlist is
/// written down once per change, not once per request.
public final class HLSProgram: PacketSink {
    /// The unguessable part of this run's segment addresses, which keeps caches from mixing two runs.
    let run: String

    private struct State: ~Copyable {
        var segmenter: Segmenter
        var playlist: MediaPlaylist
        var rendered: ByteBuffer?
        /// The first segment has its number.
        var hasBegun = false
        /// What came before that.
        var configurations: [MediaPacket] = []
    }

    private let configuration: HLSConfiguration
    private let clock: RenditionClock?
    private let state: Mutex<State>

    /// Makes one by itself.
    public convenience init(configuration: HLSConfiguration) {
        self.init(configuration: configuration, clock: nil)
    }

    /// - Parameter clock: What it has in common with other renditions; nil for a program without any.
    init(configuration: HLSConfiguration, clock: RenditionClock?) {
        run = String(UInt64.random(in: .min ... .max), radix: 36)
        self.configuration = configuration
        self.clock = clock
        state = Mutex(State(segmenter: Segmenter(configuration), playlist: MediaPlaylist(configuration)))
    }

    /// Takes the next packet of the program.
    public func receive(_ packet: MediaPacket) {
        let now = Date().timeIntervalSince1970
        state.withLock { state in
            if let clock, !state.hasBegun { count(packet, from: clock, &state) }
            let outputs = state.segmenter.append(packet)
            guard !outputs.isEmpty else { return }
            for output in outputs { state.playlist.append(output, wallClock: wallClock(of: output, now: now)) }
            state.rendered = nil
        }
    }

    /// Numbers segments as the other renditions do, from the first packet on that a segment can begin with.
    private func count(_ packet: MediaPacket, from clock: RenditionClock, _ state: inout State) {
        if packet.isConfiguration { state.configurations.append(packet) }
        let hasVideo = state.configurations.contains(where: \.isVideo)
        guard packet.isKeyPicture || (!hasVideo && packet.content == .sound(.aac)) else { return }
        state.hasBegun = true
        state.segmenter = Segmenter(configuration, firstSequence: clock.firstSequence(at: packet.timestamp))
        for configuration in state.configurations { _ = state.segmenter.append(configuration) }
        state.configurations = []
    }

    private func wallClock(of output: SegmenterOutput, now: Double) -> Double {
        guard let clock, case .part(let part) = output else { return now }
        return clock.date(of: part.start + part.duration, now: now)
    }

    /// The next key picture begins a new continuity.
    public func publisherChanged() {
        state.withLock { $0.segmenter.discontinuity() }
    }

    /// The program is over: players see the end of the list.
    public func end() {
        let now = Date().timeIntervalSince1970
        state.withLock { state in
            for output in state.segmenter.finish() {
                state.playlist.append(output, wallClock: wallClock(of: output, now: now))
            }
            state.playlist.end()
            state.rendered = nil
        }
    }

    /// The media playlist as it stands; nil before the first whole segment.
    func mediaPlaylist() -> ByteBuffer? {
        state.withLock { state in
            guard state.playlist.isPlayable else { return nil }
            if let rendered = state.rendered { return rendered }
            let rendered = state.playlist.render(prefix: run + "/")
            state.rendered = rendered
            return rendered
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
                mediaURI: uri
            )
        }
    }

    /// Segments that are listed.
    var segmentCount: Int { state.withLock { $0.playlist.segments.count } }

    /// An initialization or media segment that still exists.
    func file(named name: String) -> [ByteBuffer]? {
        state.withLock { state in
            if let initialization = state.playlist.initialization(named: name) { return [initialization] }
            return state.playlist.segment(named: name)
        }
    }
}
