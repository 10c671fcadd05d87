import Foundation

/// The rules of RFC 8216bis for low-latency playlists; each violation is reported as a line of text.
enum PlaylistRules {
    private static let tolerance = 0.001

    /// Returns the violations of a single playlist.
    static func violations(_ playlist: ParsedPlaylist) -> [String] {
        var found: [String] = []
        func require(_ isSatisfied: Bool, _ rule: String) {
            if !isSatisfied { found.append(rule) }
        }
        let target = Double(playlist.targetDuration)
        require(playlist.version >= 9, "version")
        require(playlist.partTarget > 0, "no part target")
        require(playlist.control["CAN-BLOCK-RELOAD"] == "YES", "no blocking reload")
        require(number(playlist, "PART-HOLD-BACK") >= 3 * playlist.partTarget - tolerance / 1000, "PART-HOLD-BACK")
        require(number(playlist, "HOLD-BACK") >= 3 * target, "HOLD-BACK")
        require(number(playlist, "CAN-SKIP-UNTIL") >= 6 * target, "CAN-SKIP-UNTIL")
        require(Set(playlist.parts.map(\.uri)).count == playlist.parts.count, "a part is listed twice")
        require(playlist.hints.count == (playlist.isEnded ? 0 : 1), "\(playlist.hints.count) preload hints")
        require(!playlist.isEnded || playlist.open.parts.isEmpty, "open parts behind the end")

        var age = playlist.open.parts.reduce(0) { $0 + $1.duration }
        for (offset, segment) in playlist.segments.enumerated().reversed() {
            let sequence = playlist.mediaSequence + playlist.skipped + offset
            require(segment.duration.rounded() <= target, "segment \(sequence) outlasts the target duration")
            require(segment.map != nil, "segment \(sequence) has no map")
            require(segment.date != nil, "segment \(sequence) has no date")
            require(segment.parts.isEmpty == (age >= 3 * target - 0.000_1), "parts of segment \(sequence), age \(age)")
            if !segment.parts.isEmpty {
                let sum = segment.parts.reduce(0) { $0 + $1.duration }
                require(
                    abs(sum - segment.duration) < tolerance,
                    "parts of \(sequence) last \(sum), it \(segment.duration)"
                )
            }
            age += segment.duration
        }
        // Older segments were checked in the playlists in which they were the newest.
        let dated = playlist.segments.suffix(2) + (playlist.open.date == nil ? [] : [playlist.open])
        for (segment, next) in zip(dated, dated.dropFirst()) where !next.isDiscontinuity {
            let step = seconds(next.date) - seconds(segment.date)
            require(abs(step - segment.duration) < 0.002, "\(segment.uri) lasts \(segment.duration), dates \(step)")
        }
        let numbered = playlist.segments.enumerated().map { ($0 + playlist.mediaSequence + playlist.skipped, $1, true) }
        for (sequence, segment, isWhole) in numbered + [(playlist.openSequence, playlist.open, false)] {
            for (index, part) in segment.parts.enumerated() {
                require(part.uri.hasSuffix("s\(sequence).p\(index).m4s"), "\(part.uri) is out of order")
                require(part.duration <= playlist.partTarget, "\(part.uri) lasts \(part.duration)")
                let isLast = isWhole && index == segment.parts.count - 1
                let isLong = part.duration >= playlist.partTarget * 0.85
                require(isLong || isLast || part.isIndependent, "\(part.uri) lasts only \(part.duration)")
            }
        }
        if let hint = playlist.hints.first {
            let next = "s\(playlist.openSequence).p\(playlist.open.parts.count).m4s"
            require(hint.hasSuffix(next), "the hint is \(hint), the next part \(next)")
        }
        return found
    }

    /// Returns the violations between a playlist and a later one.
    static func violations(_ old: ParsedPlaylist, then new: ParsedPlaylist) -> [String] {
        var found: [String] = []
        func require(_ isSatisfied: Bool, _ rule: String) {
            if !isSatisfied { found.append(rule) }
        }
        require(old.targetDuration == new.targetDuration, "the target duration changed")
        require(old.partTarget == new.partTarget, "the part target changed")
        require(old.control == new.control, "the server control changed")
        let gone = new.mediaSequence - old.mediaSequence
        guard (0...old.segments.count).contains(gone) else { return found + ["media sequence jumped by \(gone)"] }
        let lasting = new.segments.reduce(0) { $0 + $1.duration }
        require(gone == 0 || lasting >= Double(3 * new.targetDuration), "after a removal only \(lasting) s are listed")
        let discontinuities = old.segments.prefix(gone).count { $0.isDiscontinuity }
        require(new.discontinuitySequence - old.discontinuitySequence == discontinuities, "discontinuity sequence")
        require(new.openSequence >= old.openSequence, "segments went away at the end")
        for (before, after) in zip(old.segments.dropFirst(gone), new.segments) {
            require(before.uri == after.uri && before.duration == after.duration, "\(before.uri) changed")
            require(before.date == after.date && before.map == after.map, "\(before.uri) changed its date or map")
            require(before.isDiscontinuity == after.isDiscontinuity, "\(before.uri): discontinuity")
            require(after.parts.isEmpty || before.parts == after.parts, "parts of \(before.uri) changed")
        }
        let offset = old.openSequence - new.mediaSequence
        let later = offset < new.segments.count ? new.segments[offset] : new.open
        if !later.parts.isEmpty || offset >= new.segments.count {
            require(Array(later.parts.prefix(old.open.parts.count)) == old.open.parts, "open parts changed")
        }
        if let hint = old.hints.first, later.parts.count > old.open.parts.count {
            require(later.parts[old.open.parts.count].uri == hint, "\(hint) was announced but does not exist")
        }
        return found
    }

    /// Returns the violations of a delta update relative to the full playlist.
    static func violations(delta: ParsedPlaylist, of whole: ParsedPlaylist) -> [String] {
        var found: [String] = []
        func require(_ isSatisfied: Bool, _ rule: String) {
            if !isSatisfied { found.append(rule) }
        }
        require(delta.skipped + delta.segments.count == whole.segments.count, "skipped \(delta.skipped)")
        require(delta.segments == Array(whole.segments.suffix(delta.segments.count)), "a segment differs")
        require(delta.open == whole.open && delta.hints == whole.hints, "the end differs")
        require(delta.mediaSequence == whole.mediaSequence, "media sequence")
        require(delta.discontinuitySequence == whole.discontinuitySequence, "discontinuity sequence")
        // Exactly the segments that end before the skip boundary are skipped.
        var age = 0.0
        var old = 0
        for segment in whole.segments.reversed() {
            if age > number(whole, "CAN-SKIP-UNTIL") + 0.000_1 { old += 1 }
            age += segment.duration
        }
        require(delta.skipped == (whole.isEnded ? 0 : old), "skipped \(delta.skipped), \(old) are old")
        return found
    }

    /// Parses a date of the playlist as seconds since 1970; NaN if it is invalid.
    private static func seconds(_ date: String?) -> Double {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? style.parse(date ?? ""))?.timeIntervalSince1970 ?? .nan
    }

    private static func number(_ playlist: ParsedPlaylist, _ attribute: String) -> Double {
        playlist.control[attribute].flatMap(Double.init) ?? 0
    }
}
