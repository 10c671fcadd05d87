@testable import ControlAPI
@testable import FanOut
@testable import HLS
import Media
import NIOCore
import Synchronization

extension FuzzTarget {
    /// Requests of players: a path with its query, and a range on a second line.
    static let playlist = FuzzTarget("playlist") { input in
        let lines = input.lines
        let target = lines[0]
        let query = QueryItems(target: target)
        if case .file(_, let name)? = MediaRequest(path: target)?.target {
            program.withLock { playlist in
                _ = playlist.announcedPart(named: name)
                _ = playlist.file(named: name)
            }
        }
        let range = lines.count > 1 ? lines[1] : nil
        for length in [0, 1, 1000, Int.max] {
            if case .partial(let part) = ByteRange.parse(range, length: length) {
                demand(part.first <= part.last && part.last < length, "a range is within what there is")
            }
            if case .part(let part) = FileByteRange(range, length: length) {
                demand(part.upperBound < length, "a range is within what there is")
            }
        }
        guard
            let directives = DeliveryDirectives(
                sequence: query["_HLS_msn"],
                part: query["_HLS_part"],
                skip: query["_HLS_skip"]
            )
        else { return }
        program.withLock { _ = $0.readiness(for: directives) }
    }

    /// Two segments and a part of a third, audio only.
    private static let program: Mutex<MediaPlaylist> = {
        var segmenter = Segmenter(HLSConfiguration(), firstSequence: 7)
        var playlist = MediaPlaylist(HLSConfiguration())
        let configuration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)
        for output in segmenter.append(configuration) { playlist.append(output, wallClock: 0) }
        for index in 0..<250 {
            let audio = MediaPacket.aacFrame(timestamp: Int64(index) * 21, capacity: 4) { $0.writeBytes([1, 2, 3, 4]) }
            for output in segmenter.append(audio) { playlist.append(output, wallClock: Double(index) / 47) }
        }
        return Mutex(playlist)
    }()
}
