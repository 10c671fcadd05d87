extension ProgramConfiguration {
    /// The encoder efforts that may be asked for, from the cheapest.
    public static let presets = ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]

    /// Checks every value against its range; names in errors are those of the control API.
    ///
    /// - Throws: 3073 with the field's name and its range.
    public func validate() throws(StageError) {
        try StageError.check(width, in: 160...1920, field: "program.width")
        try StageError.check(height, in: 90...1920, field: "program.height")
        guard width % 2 == 0 else { throw .invalidParameter("program.width", "must be even") }
        guard height % 2 == 0 else { throw .invalidParameter("program.height", "must be even") }
        try StageError.check(videoBitrate, in: 10...10_000, field: "program.video_bitrate")
        try StageError.check(audioBitrate, in: 10...320, field: "program.audio_bitrate")
        try StageError.check(keyInterval, in: 1...10, field: "program.key_interval")
        try StageError.check(jitterTarget, in: 60...2000, field: "program.jitter_target")
        guard frameRate.perSecond >= 1, frameRate.perSecond <= 60 else {
            throw .invalidParameter("program.fps", "must be between 1 and 60")
        }
        guard Self.presets.contains(preset) else {
            throw .invalidParameter("program.preset", "must be one of \(Self.presets.joined(separator: ", "))")
        }
        try ladder?.validate(in: self)
    }
}
