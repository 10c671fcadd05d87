extension LayoutSettings {
    /// Longest text of a lower third's line or a slate, in characters.
    public static let longestText = 500
    /// Longest text of a ticker, in characters.
    public static let longestTicker = 2000

    /// Bytes of UTF-8 that each character of a text may have on average.
    static let bytesPerCharacter = 8

    /// Checks every value that its type does not already keep in range.
    ///
    /// - Parameter path: What stands before the field's name in the request, with its dot.
    /// - Throws: 3073 naming the field.
    public func validate(path: String = "layout.") throws(StageError) {
        try StageError.check(gridSize, in: 1...GridLayout.maximumTiles, field: "\(path)grid_size")
        try StageError.check(transition, in: 0...2000, field: "\(path)transition_ms")
        guard rotation == 0 || (3...300).contains(rotation) else {
            throw .invalidParameter("\(path)rotate_every", "must be 0 or between 3 and 300")
        }
        if let logo {
            try StageError.check(logo.opacity, in: 0...1, field: "\(path)logo.opacity")
            try StageError.check(logo.height, in: 0.02...0.5, field: "\(path)logo.height")
        }
        if let lowerThird {
            try Self.check(lowerThird.title, field: "\(path)lower_third.title")
            try Self.check(lowerThird.subtitle, field: "\(path)lower_third.subtitle")
        }
        if let ticker {
            try Self.check(ticker.text, limit: Self.longestTicker, field: "\(path)ticker.text")
            try StageError.check(ticker.speed, in: 0.01...1, field: "\(path)ticker.speed")
        }
        try Self.check(slates.startingSoon?.text, field: "\(path)slates.starting_soon.text")
        try Self.check(slates.beRightBack?.text, field: "\(path)slates.be_right_back.text")
        try Self.check(slates.ended?.text, field: "\(path)slates.ended.text")
    }

    private static func check(_ text: String?, limit: Int = longestText, field: String) throws(StageError) {
        guard let text else { return }
        guard text.count <= limit else {
            throw .invalidParameter(field, "must have at most \(limit) characters")
        }
        guard text.utf8.count <= limit * bytesPerCharacter else {
            throw .invalidParameter(field, "must have at most \(limit * bytesPerCharacter) bytes of UTF-8")
        }
    }
}
