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
    }

    private let state: Mutex<State>

    /// Makes one from its parts.
    public init(configuration: HLSConfiguration) {
        run = String(UInt64.random(in: .min ... .max), radix: 36)
        state = Mutex(State(segmenter: Segmenter(configuration), playlist: MediaPlaylist(configuration)))
    }

    /// Takes the next packet of the program.
    public func receive(_ packet: MediaPacket) {
        let now = Date().timeIntervalSince1970
        state.withLock { state in
            let outputs = state.segmenter.append(packet)
            guard !outputs.isEmpty else { return }
            for output in outputs { state.playlist.append(output, wallClock: now) }
            state.rendered = nil
        }
    }

    /// The next key picture begins a new continuity.
    public func publisherChanged() {
        state.withLock { $0.segmenter.discontinuity() }
    }

    /// The program is over: players see the end of the list.
    public func end() {
        let now = Date().timeIntervalSince1970
        state.withLock { state in
            for output in state.segmenter.finish() { state.playlist.append(output, wallClock: now) }
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

    /// The multivariant playlist that leads to the media playlist with this session id; nil before the first segment.
    func multivariantPlaylist(sid: String) -> ByteBuffer? {
        state.withLock { state in
            guard let bandwidth = state.playlist.peakBandwidth, let format = state.playlist.initialization else {
                return nil
            }
            let resolution = format.width.flatMap { width in format.height.map { (width: width, height: $0) } }
            return MultivariantPlaylist.render(
                bandwidth: bandwidth,
                averageBandwidth: state.playlist.averageBandwidth,
                resolution: resolution,
                frameRate: format.frameRate,
                codecs: format.codecs,
                mediaURI: "media.m3u8?sid=\(sid)"
            )
        }
    }

    /// An initialization or media segment that still exists.
    func file(named name: String) -> [ByteBuffer]? {
        state.withLock { state in
            if let initialization = state.playlist.initialization(named: name) { return [initialization] }
            return state.playlist.segment(named: name)
        }
    }
}
