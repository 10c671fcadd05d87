/// What a scripted host sends: a picture, a sound, or both.
public struct HostScript: Sendable {
    /// The picture, or nil for a host without video.
    public var picture: HostPicture?
    /// The sound, or nil for a host without audio.
    public var sound: HostSound?

    /// A host of these two.
    public init(picture: HostPicture?, sound: HostSound?) {
        self.picture = picture
        self.sound = sound
    }

    /// A host in one colour with a moving marker and a steady tone.
    public init(_ colour: Colour, tone frequency: Double) {
        self.init(picture: HostPicture(colour), sound: .tone(frequency))
    }

    /// A host whose picture flashes white and who beeps at 1 kHz together with it, at the beginning of each second.
    public static func flashAndBeep(length: Double = 0.1, frequency: Double = 1000) -> HostScript {
        var picture = HostPicture(.black)
        picture.hasMarker = false
        picture.flash = length
        return HostScript(picture: picture, sound: HostSound(.beep(frequency, length: length)))
    }

    /// What ffmpeg is told about inputs and encoders.
    ///
    /// - Parameter isRealTime: Reads the inputs at the pace of the clock instead of as fast as it can.
    func arguments(isRealTime: Bool) -> [String] {
        let pace = isRealTime ? ["-re"] : []
        var arguments: [String] = []
        for graph in [picture?.graph, sound?.graph] {
            if let graph { arguments += pace + ["-f", "lavfi", "-i", graph] }
        }
        return arguments + (picture?.encoderArguments ?? []) + (sound?.encoderArguments ?? [])
    }
}
