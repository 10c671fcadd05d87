/// The renditions of a program beside the program itself.
///
/// One composition, several encodes: key pictures fall on the same moments in all of them, and the sound is coded once.
public struct RenditionLadder: Sendable, Hashable, Codable {
    /// The name under which the sound by itself is played.
    public static let audioName = "audio"
    /// The most renditions with pictures.
    public static let most = 6

    /// The renditions with pictures, the largest first.
    public var renditions: [Rendition]
    /// Offers the sound by itself too.
    public var hasAudioOnly: Bool

    /// Makes a ladder; nothing is checked before `validate(in:)`.
    public init(renditions: [Rendition] = [], hasAudioOnly: Bool = false) {
        self.renditions = renditions.sorted {
            // Sizes that were not checked yet may be anything.
            Double($0.width) * Double($0.height) > Double($1.width) * Double($1.height)
        }
        self.hasAudioOnly = hasAudioOnly
    }

    /// The names under which something is played beside the program.
    public var names: [String] { renditions.map(\.name) + (hasAudioOnly ? [Self.audioName] : []) }

    /// Checks every rendition against the program it is made of; names in errors are those of the control API.
    ///
    /// - Throws: 3073 with the field's name and its range.
    public func validate(in program: ProgramConfiguration) throws(StageError) {
        guard renditions.count <= Self.most else {
            throw .invalidParameter("program.renditions", "must be at most \(Self.most)")
        }
        var names: Set<String> = ["index", "media", Self.audioName]
        for rendition in renditions {
            let field = "program.renditions"
            let isWord = rendition.name.utf8.allSatisfy { NameRule.check(String(decoding: [$0], as: UTF8.self)) == nil }
            guard (1...16).contains(rendition.name.utf8.count), isWord, !rendition.name.contains("_") else {
                throw .invalidParameter("\(field).name", "must be 1 to 16 letters, digits or hyphens")
            }
            guard names.insert(rendition.name).inserted else {
                throw .invalidParameter("\(field).name", "must be unique, and not index, media or audio")
            }
            try StageError.check(rendition.width, in: 160...program.width, field: "\(field).width")
            try StageError.check(rendition.height, in: 90...program.height, field: "\(field).height")
            guard rendition.width % 2 == 0 else { throw .invalidParameter("\(field).width", "must be even") }
            guard rendition.height % 2 == 0 else { throw .invalidParameter("\(field).height", "must be even") }
            try StageError.check(rendition.videoBitrate, in: 10...10_000, field: "\(field).video_bitrate")
            guard let step = rendition.step(in: program), program.pictureGroupLength % step == 0 else {
                throw .invalidParameter("\(field).fps", "must be the program's rate divided by a whole number")
            }
        }
    }
}
