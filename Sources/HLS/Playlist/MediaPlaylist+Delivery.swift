extension MediaPlaylist {
    /// Whether the playlist is what a request waits for.
    public enum Readiness: Sendable, Equatable {
        /// It is: answer now.
        case ready
        /// It will be when more media has come.
        case later
        /// It will not be for longer than a player may ask for: 400.
        case tooFar
    }

    /// The part that will be appended next; the playlist announces it.
    public var nextPart: PartPosition {
        if let open = openParts.last { return PartPosition(sequence: open.sequence, index: open.index + 1) }
        return PartPosition(sequence: (entries.last?.segment.sequence ?? mediaSequence - 1) + 1, index: 0)
    }

    /// The newest part that exists; nil before the first.
    public var lastPart: PartPosition? {
        openParts.last?.position ?? entries.last?.parts.last?.position
    }

    /// Whether a blocking reload is to be answered now (RFC 8216bis 6.2.5.2).
    public func readiness(for directives: DeliveryDirectives) -> Readiness {
        guard let sequence = directives.sequence, !isEnded else { return .ready }
        let next = nextPart
        guard let part = directives.part else {
            if sequence < next.sequence { return .ready }
            return sequence > next.sequence + 1 ? .tooFar : .later
        }
        if sequence < next.sequence {
            // Beyond the last part of the newest segment there is the first part of the next one.
            let rolls = sequence == next.sequence - 1 && part >= (entries.last?.parts.count ?? 0)
            return rolls && next.index == 0 ? .later : .ready
        }
        if sequence > next.sequence + 1 { return .tooFar }
        let known = sequence == next.sequence ? next.index : 0
        if part < known { return .ready }
        return part - known >= configuration.advancePartLimit ? .tooFar : .later
    }

    /// Where the part stands that the playlist announces, if that is its name.
    public func announcedPart(named name: String) -> PartPosition? {
        guard !isEnded else { return nil }
        let next = nextPart
        return MediaName(name) == .part(next.sequence, next.index) ? next : nil
    }
}
