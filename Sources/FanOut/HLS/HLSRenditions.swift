import HLS
import NIOCore

/// The HLS presentation of one room: its program, its renditions, and the multivariant playlist.
public struct HLSRenditions: Sendable {
    /// The program itself.
    public let program: HLSProgram
    /// The renditions by name, in the order of the ladder.
    let renditions: [(name: String, program: HLSProgram)]
    /// Whether the program is expected without a command, as after a restart of the gateway.
    private let isExpected: Bool

    /// - Parameters:
    ///   - first: The number of the first segment.
    ///   - isExpected: Whether the program is expected without a command, and players may know an earlier run.
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

    /// Returns the rendition of a name; the program itself for nil.
    func rendition(_ name: String?) -> HLSProgram? {
        guard let name else { return program }
        return renditions.first { $0.name == name }?.program
    }

    /// Returns the rendition of a name, unless it is stalled and players should switch to another one.
    func offered(_ name: String?) -> HLSProgram? {
        rendition(name).flatMap { $0.isStalled ? nil : $0 }
    }

    /// Returns the program or rendition of a run, under whose name its files are.
    func program(run: String) -> HLSProgram? {
        program.run == run ? program : renditions.first { $0.program.run == run }?.program
    }

    /// Whether the program is expected and not there yet, usually after a restart of the gateway; requests wait,
    /// because many players give up for good on an error.
    ///
    /// Two segments are required, because the second one shows which renditions have resumed.
    var isResuming: Bool { isExpected && program.segmentCount < 2 && !program.isEnded }

    /// Whether the multivariant playlist is available.
    var isOffered: Bool { multivariantPlaylist(sid: "") != nil }

    /// Renders the multivariant playlist with a session id; nil until its variants are known.
    ///
    /// A player reads it once, so it waits one segment for all renditions to appear; stalled renditions are omitted. It
    /// differs per viewer and fits into one packet, or two with the largest ladder, so that compression would only cost
    /// CPU time on every join.
    ///
    /// - Parameter isInPath: Whether URIs name the session in their path, so that segment URIs do too; otherwise in
    ///   their query, so that segment URIs are the same for all viewers.
    func multivariantPlaylist(sid: String, isInPath: Bool = false) -> ByteBuffer? {
        func address(_ name: String) -> String {
            isInPath ? "~\(sid)/\(name).m3u8" : "\(name).m3u8?sid=\(sid)"
        }
        guard let main = program.variant(uri: address("media")) else { return nil }
        let others = renditions.map { name, program in
            program.isStalled ? nil : program.variant(uri: address(name))
        }
        guard program.segmentCount > 1 || !others.contains(where: { $0 == nil }) else { return nil }
        return MultivariantPlaylist.render([main] + others.compactMap(\.self))
    }

    /// Sets whether the files of all programs have names that cannot be guessed.
    func setPrivate(_ isPrivate: Bool) {
        program.setPrivate(isPrivate)
        for rendition in renditions { rendition.program.setPrivate(isPrivate) }
    }

    /// Ends all programs and their playlists.
    func end() {
        program.end()
        for rendition in renditions { rendition.program.end() }
    }
}
