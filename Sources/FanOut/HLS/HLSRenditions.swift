import HLS
import NIOCore

/// One room as HLS: its program, its renditions, and the playlist that leads to them all.
public struct HLSRenditions: Sendable {
    /// The program itself.
    public let program: HLSProgram
    /// The renditions by name, in the ladder's order.
    let renditions: [(name: String, program: HLSProgram)]
    /// The program comes without anybody's doing, as it does after a restart of the gateway.
    private let isExpected: Bool

    /// - Parameters:
    ///   - first: The number of the first segment.
    ///   - isExpected: Whether the program comes without anybody's doing, and may have been played before.
    init(configuration: HLSConfiguration, renditions names: [String], first: Int = 0, isExpected: Bool = false) {
        self.isExpected = isExpected
        guard !names.isEmpty else {
            program = HLSProgram(configuration: configuration, clock: nil, first: first, isContinuation: isExpected)
            renditions = []
            return
        }
        let clock = RenditionClock(segmentDuration: configuration.segmentDuration, first: first)
        func make(_ rendition: String?) -> HLSProgram {
            HLSProgram(configuration: configuration, clock: clock, rendition: rendition, isContinuation: isExpected)
        }
        program = make(nil)
        renditions = names.map { ($0, make($0)) }
    }

    /// The program of that name; the program itself for nil.
    func rendition(_ name: String?) -> HLSProgram? {
        guard let name else { return program }
        return renditions.first { $0.name == name }?.program
    }

    /// The program of that name, unless it is a rendition that stands still: whoever plays it is to take another one.
    func offered(_ name: String?) -> HLSProgram? {
        rendition(name).flatMap { $0.standsStill ? nil : $0 }
    }

    /// The program or rendition that began with that run; its files are under that name.
    func program(run: String) -> HLSProgram? {
        program.run == run ? program : renditions.first { $0.program.run == run }?.program
    }

    /// Whether the program is expected, most of all after a restart of the gateway: who asks for it is not to hear that
    /// there is none, for many players give up for good then.
    ///
    /// A second segment shows which renditions came back with it.
    var isReturning: Bool { isExpected && program.segmentCount < 2 && !program.isEnded }

    /// Whether there is a playlist for a player who comes now.
    var isOffered: Bool { multivariantPlaylist(sid: "") != nil }

    /// The playlist that leads to every media playlist with one session id; nil before it can say what there is.
    ///
    /// A player reads it once, so renditions get a segment's time to appear before it is given out without them; one
    /// that stands still is left out, for its players would. It is
    /// each viewer's own, and as it is fits into a packet, with the fullest ladder into two that leave together: to compress
    /// it would cost every join some work and have nobody's picture come earlier.
    ///
    /// - Parameter isInPath: The addresses name the session in their path, so that those of segments do as well; otherwise in
    ///   their query, so that segments have one address for all viewers.
    func multivariantPlaylist(sid: String, isInPath: Bool = false) -> ByteBuffer? {
        func address(_ name: String) -> String {
            isInPath ? "~\(sid)/\(name).m3u8" : "\(name).m3u8?sid=\(sid)"
        }
        guard let main = program.variant(uri: address("media")) else { return nil }
        let others = renditions.map { name, program in
            program.standsStill ? nil : program.variant(uri: address(name))
        }
        guard program.segmentCount > 1 || !others.contains(where: { $0 == nil }) else { return nil }
        return MultivariantPlaylist.render([main] + others.compactMap(\.self))
    }

    /// All programs end: players see the end of the list.
    func end() {
        program.end()
        for rendition in renditions { rendition.program.end() }
    }
}
