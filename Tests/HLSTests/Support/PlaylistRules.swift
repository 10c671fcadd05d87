import Foundation

/// What RFC 8216bis asks of a low-latency playlist, and of one after the other; each breach is a line of text.
enum PlaylistRules {
    private static let tolerance = 0.001

    /// Breaches of one playlist by itself.
    static func breaches(_ playlist: ReadPlaylist) -> [String] {
        var found: [String] = []
        func demand(_ isKept: Bool, _ rule: String) {
            if !isKept { found.append(rule) }
        }
        let target = Double(playlist.targetDuration)
        demand(playlist.version >= 9, "version")
        demand(playlist.partTarget > 0, "no part target")
        demand(playlist.control["CAN-BLOCK-RELOAD"] == "YES", "no blocking reload")
        demand(number(playlist, "PART-HOLD-BACK") >= 3 * playlist.partTarget - tolerance / 1000, "PART-HOLD-BACK")
        demand(number(playlist, "HOLD-BACK") >= 3 * target, "HOLD-BACK")
        demand(number(playlist, "CAN-SKIP-UNTIL") >= 6 * target, "CAN-SKIP-UNTIL")
        demand(Set(playlist.parts.map(\.uri)).count == playlist.parts.count, "a part is listed twice")
        demand(playlist.hints.count == (playlist.isEnded ? 0 : 1), "\(playlist.hints.count) preload hints")
        demand(!playlist.isEnded || playlist.open.parts.isEmpty, "open parts behind the end")

        var age = playlist.open.parts.reduce(0) { $0 + $1.duration }
        for (place, segment) in playlist.segments.enumerated().reversed() {
            let sequence = playlist.mediaSequence + playlist.skipped + place
            demand(segment.duration.rounded() <= target, "segment \(sequence) outlasts the target duration")
            demand(segment.map != nil, "segment \(sequence) has no map")
            demand(segment.date != nil, "segment \(sequence) has no date")
            demand(segment.parts.isEmpty == (age >= 3 * target - 0.000_1), "parts of segment \(sequence), age \(age)")
            if !segment.parts.isEmpty {
                let sum = segment.parts.reduce(0) { $0 + $1.duration }
                demand(
                    abs(sum - segment.duration) < tolerance,
                    "parts of \(sequence) last \(sum), it \(segment.duration)"
                )
            }
            age += segment.duration
        }
        // Those before were newest once, and are held against the playlist of that moment.
        let dated = playlist.segments.suffix(2) + (playlist.open.date == nil ? [] : [playlist.open])
        for (segment, next) in zip(dated, dated.dropFirst()) where !next.isDiscontinuity {
            let step = seconds(next.date) - seconds(segment.date)
            demand(abs(step - segment.duration) < 0.002, "\(segment.uri) lasts \(segment.duration), dates \(step)")
        }
        let numbered = playlist.segments.enumerated().map { ($0 + playlist.mediaSequence + playlist.skipped, $1, true) }
        for (sequence, segment, isWhole) in numbered + [(playlist.openSequence, playlist.open, false)] {
            for (index, part) in segment.parts.enumerated() {
                demand(part.uri.hasSuffix("s\(sequence).p\(index).m4s"), "\(part.uri) is out of order")
                demand(part.duration <= playlist.partTarget, "\(part.uri) lasts \(part.duration)")
                let isLast = isWhole && index == segment.parts.count - 1
                let isLong = part.duration >= playlist.partTarget * 0.85
                demand(isLong || isLast || part.isIndependent, "\(part.uri) lasts only \(part.duration)")
            }
        }
        if let hint = playlist.hints.first {
            let next = "s\(playlist.openSequence).p\(playlist.open.parts.count).m4s"
            demand(hint.hasSuffix(next), "the hint is \(hint), the next part \(next)")
        }
        return found
    }

    /// Breaches between a playlist and a later one.
    static func breaches(_ old: ReadPlaylist, then new: ReadPlaylist) -> [String] {
        var found: [String] = []
        func demand(_ isKept: Bool, _ rule: String) {
            if !isKept { found.append(rule) }
        }
        demand(old.targetDuration == new.targetDuration, "the target duration changed")
        demand(old.partTarget == new.partTarget, "the part target changed")
        demand(old.control == new.control, "the server control changed")
        let gone = new.mediaSequence - old.mediaSequence
        guard (0...old.segments.count).contains(gone) else { return found + ["media sequence jumped by \(gone)"] }
        let lasting = new.segments.reduce(0) { $0 + $1.duration }
        demand(gone == 0 || lasting >= Double(3 * new.targetDuration), "after a removal only \(lasting) s are listed")
        let discontinuities = old.segments.prefix(gone).count { $0.isDiscontinuity }
        demand(new.discontinuitySequence - old.discontinuitySequence == discontinuities, "discontinuity sequence")
        demand(new.openSequence >= old.openSequence, "segments went away at the end")
        for (before, after) in zip(old.segments.dropFirst(gone), new.segments) {
            demand(before.uri == after.uri && before.duration == after.duration, "\(before.uri) changed")
            demand(before.date == after.date && before.map == after.map, "\(before.uri) was dated or mapped anew")
            demand(before.isDiscontinuity == after.isDiscontinuity, "\(before.uri): discontinuity")
            demand(after.parts.isEmpty || before.parts == after.parts, "parts of \(before.uri) changed")
        }
        let place = old.openSequence - new.mediaSequence
        let later = place < new.segments.count ? new.segments[place] : new.open
        if !later.parts.isEmpty || place >= new.segments.count {
            demand(Array(later.parts.prefix(old.open.parts.count)) == old.open.parts, "open parts changed")
        }
        if let hint = old.hints.first, later.parts.count > old.open.parts.count {
            demand(later.parts[old.open.parts.count].uri == hint, "\(hint) was announced and did not come")
        }
        return found
    }

    /// Breaches of a delta update, held against the whole playlist of the same moment.
    static func breaches(delta: ReadPlaylist, of whole: ReadPlaylist) -> [String] {
        var found: [String] = []
        func demand(_ isKept: Bool, _ rule: String) {
            if !isKept { found.append(rule) }
        }
        demand(delta.skipped + delta.segments.count == whole.segments.count, "skipped \(delta.skipped)")
        demand(delta.segments == Array(whole.segments.suffix(delta.segments.count)), "a segment differs")
        demand(delta.open == whole.open && delta.hints == whole.hints, "the end differs")
        demand(delta.mediaSequence == whole.mediaSequence, "media sequence")
        demand(delta.discontinuitySequence == whole.discontinuitySequence, "discontinuity sequence")
        // Exactly those are skipped that end farther before the last segment's end than the skip boundary.
        var age = 0.0
        var old = 0
        for segment in whole.segments.reversed() {
            if age > number(whole, "CAN-SKIP-UNTIL") + 0.000_1 { old += 1 }
            age += segment.duration
        }
        demand(delta.skipped == (whole.isEnded ? 0 : old), "skipped \(delta.skipped), \(old) are old")
        return found
    }

    /// A date of the playlist in seconds since 1970; not a number when it is none.
    private static func seconds(_ date: String?) -> Double {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? style.parse(date ?? ""))?.timeIntervalSince1970 ?? .nan
    }

    private static func number(_ playlist: ReadPlaylist, _ attribute: String) -> Double {
        playlist.control[attribute].flatMap(Double.init) ?? 0
    }
}
