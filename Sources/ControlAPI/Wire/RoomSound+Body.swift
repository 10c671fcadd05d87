import GatewayModel
import Stage

extension RoomSound {
    /// Takes over what a request names; the rest stays.
    ///
    /// - Parameter path: What stands before a field's name when it is refused.
    /// - Throws: 3073 for a word that is none of `duck`'s.
    mutating func take(_ body: RoomSoundBody, path: String = "") throws(StageError) {
        if let name = body.duck {
            guard let duck = Duck(rawValue: name) else {
                let names = Duck.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("\(path)duck", "must be one of \(names)")
            }
            self.duck = duck
        }
        isLevelling = body.levelling ?? isLevelling
        duckDepth = body.duckDB ?? duckDepth
        if let target = body.jitterTarget { jitterTarget = target.wrappedValue }
    }
}

extension ParticipantSound {
    /// Takes over what a request names; the rest stays.
    mutating func take(_ body: ParticipantSoundBody) {
        gain = body.gainDB ?? gain
        hasPriority = body.priority ?? hasPriority
        wantsReturn = body.returnFeed ?? wantsReturn
        if let target = body.jitterTarget { jitterTarget = target.wrappedValue }
    }
}

// MARK: To the wire

extension RoomSoundResource {
    init(_ sound: RoomSound) {
        self.init(
            levelling: sound.isLevelling,
            duck: sound.duck.rawValue,
            duckDB: sound.duckDepth,
            jitterTarget: sound.jitterTarget
        )
    }
}

extension ParticipantSoundResource {
    init(_ sound: ParticipantSound) {
        self.init(
            gainDB: sound.gain,
            priority: sound.hasPriority,
            returnFeed: sound.wantsReturn,
            jitterTarget: sound.jitterTarget
        )
    }
}
