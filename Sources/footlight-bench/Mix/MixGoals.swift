/// What a mix of 720p30 hosts is to cost at most, beside ffmpeg's; nil where nothing is asked.
struct MixGoals {
    /// Of ffmpeg's processor time, at equal codec options.
    var equal: Double?
    /// Of ffmpeg's, with Footlight's defaults.
    var defaults: Double?
    /// Percent for everything but decoding and encoding.
    var outsideCodecs: Double?

    init(hosts: Int, size: ProgramSize) {
        guard size.width == 1280, size.height == 720 else { return }
        switch hosts {
        case 4: (equal, defaults, outsideCodecs) = (0.88, 0.70, 4)
        case 9: defaults = 0.65
        default: break
        }
    }

    /// A value, and whether it is within what is asked.
    static func text(_ value: Double, _ goal: Double?, digits: Int) -> String {
        goal.map { verdict(value, atMost: $0, digits: digits) } ?? value.text(digits)
    }
}
