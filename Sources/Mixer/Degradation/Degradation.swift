import Codecs
import Stage
import Synchronization

/// A degradation level of a program on an overloaded machine; each step includes those before it.
///
/// The audio and the frame size stay unchanged on every step.
public enum Degradation: Int, Sendable, Comparable, CaseIterable, Codable {
    /// Full quality.
    case none
    /// The program's and the renditions' encoders reduce their motion search.
    case lighterCoding
    /// The encoders skip nearly all of that search.
    case lightestCoding
    /// Decoders skip non-reference frames, except those of the first tile and the dominant speaker.
    case lighterDecoding
    /// One program frame of three is dropped.
    case fewerFrames
    /// Only the first tiles and the dominant speaker show video.
    case fewerTiles
    /// No renditions are encoded.
    case noRenditions
    /// A slate replaces the hosts' video.
    case slate

    /// The number of tiles that show video on step `fewerTiles`.
    static let liveTiles = 4

    /// Orders steps from no degradation to the worst.
    public static func < (left: Degradation, right: Degradation) -> Bool { left.rawValue < right.rawValue }

    /// The level reported, 0 to 6; both encoder steps are level 1.
    public var level: Int { max(rawValue - (self >= .lightestCoding ? 1 : 0), 0) }

    /// The next step up.
    var worse: Degradation? { Degradation(rawValue: rawValue + 1) }
    /// The next step down.
    var better: Degradation? { Degradation(rawValue: rawValue - 1) }

    /// How much of their search the encoders skip: 0 to 2.
    var encoderSpeedLevel: Int { min(rawValue, 2) }
}

/// Applies the present degradation step to a program.
///
/// Owned by the thread that drives the program's core.
struct DegradationController {
    private let core: ProgramCore
    private let encoder: ProgramEncoder?
    /// The scene as requested, before degradation.
    private var whole = Scene()
    private var step = Degradation.none

    init(_ core: ProgramCore, encoder: ProgramEncoder?) {
        self.core = core
        self.encoder = encoder
    }

    /// Applies `scene`, reduced to what the step allows.
    ///
    /// - Parameter inputs: The inputs of all hosts.
    mutating func apply(_ scene: Scene, to inputs: some Sequence<HostInput>) {
        whole = scene
        show(inputs)
    }

    /// Changes to `step`.
    ///
    /// - Parameter inputs: The inputs of all hosts.
    mutating func degrade(to step: Degradation, _ inputs: some Sequence<HostInput>) {
        self.step = step
        encoder?.degrade(to: step)
        core.reducesFrameRate = step >= .fewerFrames
        show(inputs)
    }

    /// Applies the step to the decoder of a new host, which the scene may already contain.
    func admit(_ input: HostInput) {
        let economy = whole.economy(of: input.id, on: step)
        input.economy.withLock { $0 = economy }
    }

    private func show(_ inputs: some Sequence<HostInput>) {
        for input in inputs { admit(input) }
        core.apply(whole.degraded(to: step))
    }
}

extension Scene {
    /// Returns the scene as shown on a step; the audio is the same on all steps.
    func degraded(to step: Degradation) -> Scene {
        guard step >= .fewerTiles else { return self }
        var scene = self
        scene.previewTiles = nil
        for index in tiles.indices where tiles[index].source == .camera && !isLive(tiles[index]) {
            scene.tiles[index].source = .placeholder
        }
        if step >= .slate, slate == nil {
            scene.slate = standIn ?? Slate(kind: .beRightBack)
            scene.slate?.music = nil
        }
        return scene
    }

    /// Returns what the decoder of a host may skip on a step, for this scene before degradation.
    func economy(of host: String, on step: Degradation) -> VideoDecoder.Economy {
        if step >= .slate { return .keyframesOnly }
        guard step >= .lighterDecoding else { return .none }
        let shown = tiles.filter { $0.participantSID == host && $0.source != .placeholder }
        // A screen share may have to be readable, and the audience looks at the dominant speaker.
        if shown.contains(where: { $0.position == 0 || $0.source == .screen || isSpeakers($0) }) { return .none }
        if step >= .fewerTiles, !shown.contains(where: isLive) { return .keyframesOnly }
        return .skipDisposable
    }

    private func isSpeakers(_ tile: Tile) -> Bool { tile.participantSID == speaker }

    /// Returns whether a tile shows video on step `fewerTiles`: the first ones, or one less and the dominant speaker.
    private func isLive(_ tile: Tile) -> Bool {
        if tile.source == .screen || isSpeakers(tile) { return true }
        let isSpeakerBehind = tiles.contains { tile in
            isSpeakers(tile) && tile.source == .camera && tile.position >= Degradation.liveTiles
        }
        return tile.position < Degradation.liveTiles - (isSpeakerBehind ? 1 : 0)
    }
}
