import Foundation
import HLS
import Media
import NIOCore

/// A segmenter and its playlist, fed by a test.
struct Broadcast {
    var segmenter: Segmenter
    var playlist: MediaPlaylist
    private(set) var parts: [Part] = []
    private(set) var segments: [Segment] = []
    private(set) var initializations: [Initialization] = []
    /// A constant wall clock; the dates advance with the feed.
    static let wallClock = 1_795_000_000.0

    init(_ configuration: HLSConfiguration = HLSConfiguration(windowLength: 100)) {
        segmenter = Segmenter(configuration)
        playlist = MediaPlaylist(configuration)
    }

    mutating func feed(_ packets: [MediaPacket]) {
        for packet in packets { handle(segmenter.append(packet)) }
    }

    mutating func finish() {
        handle(segmenter.finish())
        playlist.end()
    }

    private mutating func handle(_ outputs: [SegmenterOutput]) {
        for output in outputs {
            playlist.append(output, wallClock: Self.wallClock)
            switch output {
            case .initialization(let initialization): initializations.append(initialization)
            case .part(let part): parts.append(part)
            case .segment(let segment): segments.append(segment)
            }
        }
    }

    /// Renders the playlist as text.
    func text(query: String = "", prefix: String = "") -> String {
        String(buffer: playlist.render(query: query, prefix: prefix))
    }

    /// Writes all files and returns the URL of the playlist.
    func write(to folder: URL) throws -> URL {
        for initialization in initializations {
            let file = folder.appendingPathComponent(initialization.name)
            try Data(initialization.data.readableBytesView).write(to: file)
        }
        for segment in segments {
            let bytes = segment.parts.reduce(into: Data()) { $0.append(contentsOf: $1.readableBytesView) }
            try bytes.write(to: folder.appendingPathComponent(segment.name))
        }
        let index = folder.appendingPathComponent("index.m3u8")
        try Data(playlist.render().readableBytesView).write(to: index)
        return index
    }
}

extension MediaPacket {
    /// Returns the packet with a later timestamp.
    func delayed(by milliseconds: Int64) -> MediaPacket {
        var packet = self
        packet.timestamp += milliseconds
        return packet
    }
}

/// Runs `body` with a temporary folder.
func withTemporaryFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("footlight-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
}
