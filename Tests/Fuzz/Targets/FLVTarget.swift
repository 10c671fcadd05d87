@testable import Ingest
import HLS
import Media
import NIOCore
import RTMP

extension FuzzTarget {
    /// FLV tags, legacy and enhanced, on their whole way: what a host sends is checked, and cut into segments.
    static let flv = FuzzTarget("flv") { input in
        var reader = FLVReader()
        reader.append(FLVTagWriter.header(hasAudio: true, hasVideo: true))
        reader.append(input.rest)
        var host = HostMedia(limit: (1920, 1088))
        var timeline = HostTimeline(origin: MonotonicTime(nanoseconds: 0))
        var segmenter = Segmenter()
        var now = MonotonicTime(nanoseconds: 0)
        while let packet = try? reader.next() {
            now = now.advanced(milliseconds: 20)
            _ = StreamMetadata(packet)
            _ = segmenter.append(packet)
            guard var admitted = try? host.admit(packet, now: now) else { continue }
            admitted.timestamp = timeline.place(admitted, arrival: now)
            _ = segmenter.append(admitted)
        }
        _ = segmenter.finish()
    }
}
