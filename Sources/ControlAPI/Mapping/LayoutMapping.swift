import FootlightModel
import Stage

extension LayoutResource {
    init(_ layout: LayoutView) {
        self.init(
            settings: LayoutSettingsResource(layout),
            width: layout.width,
            height: layout.height,
            tiles: layout.tiles.map { TileResource($0) }
        )
    }
}

extension LayoutSettingsResource {
    init(_ layout: LayoutView) {
        let settings = layout.settings
        self.init(
            type: .known(settings.kind),
            priority: .known(settings.priority),
            gridSize: settings.gridSize,
            orientation: .known(layout.orientation),
            theme: .known(settings.theme),
            scaleMode: .known(settings.scaleMode),
            autoSwitchOnScreenShare: settings.autoSwitchOnScreenShare,
            overlays: OverlaysResource(settings.overlays),
            transitionMS: settings.transition,
            background: settings.background.map { BackgroundResource($0) },
            logo: settings.logo.map { LogoResource($0) },
            lowerThird: settings.lowerThird.map { LowerThirdResource(title: $0.title, subtitle: $0.subtitle) },
            ticker: settings.ticker.map { TickerResource(text: $0.text, speed: $0.speed) },
            slates: SlatesResource(settings.slates)
        )
        largeScaleMode = .known(settings.largeScaleMode)
        stripSize = layout.stripSize
        if settings.rotation > 0 { rotateEvery = settings.rotation }
    }

    /// Creates settings for a program that is not on air.
    init(_ settings: LayoutSettings, on program: ProgramConfiguration) {
        self.init(LayoutView(settings: settings, width: program.width, height: program.height, tiles: []))
    }
}

extension OverlaysResource {
    init(_ overlays: LayoutSettings.Overlays) {
        self.init(name: overlays.name, mic: overlays.mic)
    }
}

extension TileResource {
    init(_ tile: Tile) {
        self.init(
            position: tile.position,
            participantSID: tile.participantSID,
            source: .known(tile.source),
            x: tile.rectangle.x,
            y: tile.rectangle.y,
            width: tile.rectangle.width,
            height: tile.rectangle.height,
            scaleMode: .known(tile.scaleMode),
            label: tile.label,
            micOn: tile.isMicOn,
            avatar: tile.avatar,
            inStrip: tile.isInStrip
        )
    }
}

extension LayoutSettings {
    /// Applies the fields of a request; missing fields stay unchanged.
    ///
    /// Ranges are checked by `validate()`.
    ///
    /// - Parameters:
    ///   - path: The prefix of field names in errors.
    ///   - isOperator: Whether an operator made the request; its URLs may be private if the gateway's settings allow
    ///     it.
    /// - Throws: 3073 for an unknown enumeration value, colour or asset.
    mutating func apply(_ body: LayoutBody, path: String = "", isOperator: Bool = false) throws(StageError) {
        kind = try body.type?.known(in: path + "type") ?? kind
        priority = try body.priority?.known(in: path + "priority") ?? priority
        theme = try body.theme?.known(in: path + "theme") ?? theme
        if let mode = try body.scaleMode?.known(in: path + "scale_mode") {
            // The mode of all tiles; the large one has another only where the request names it.
            (scaleMode, largeScaleMode) = (mode, mode)
        }
        largeScaleMode = try body.largeScaleMode?.known(in: path + "large_scale_mode") ?? largeScaleMode
        stripSize = body.stripSize ?? stripSize
        orientation = try body.orientation?.known(in: path + "orientation") ?? orientation
        gridSize = body.gridSize ?? gridSize
        rotation = body.rotateEvery ?? rotation
        autoSwitchOnScreenShare = body.autoSwitchOnScreenShare ?? autoSwitchOnScreenShare
        overlays.name = body.overlays?.name ?? overlays.name
        overlays.mic = body.overlays?.mic ?? overlays.mic
        try applyDecoration(body, path: path)
        var named = LayoutSettings()
        if isOperator { try named.applyDecoration(body, path: path) }
        operatorAddresses = operatorAddresses.union(named.addresses).intersection(addresses)
    }

    /// Applies the layout that a request to start a livestream or HLS may have, and validates the result.
    ///
    /// - Throws: 3073 for an invalid field.
    mutating func applyStart(_ body: LayoutBody?, path: String, isOperator: Bool) throws(StageError) {
        guard let body else { return }
        try apply(body, path: path, isOperator: isOperator)
        try validate(path: path)
    }
}

extension LayoutSettings {
    /// Applies the fields of a request other than the tiles' arrangement; null clears, missing fields stay unchanged.
    ///
    /// - Throws: 3073 for an invalid colour, corner or asset.
    mutating func applyDecoration(_ body: LayoutBody, path: String) throws(StageError) {
        if let field = body.transitionMS { transition = field.wrappedValue ?? Self.defaultTransition }
        if let field = body.background {
            background = try Self.read(field.wrappedValue, path + "background", Background.init(_:path:))
        }
        if let field = body.logo { logo = try Self.read(field.wrappedValue, path + "logo", Logo.init(_:path:)) }
        if let field = body.lowerThird {
            lowerThird = field.wrappedValue.map { LowerThird(title: $0.title, subtitle: $0.subtitle) }
        }
        if let field = body.ticker {
            ticker = field.wrappedValue.map { Ticker(text: $0.text, speed: $0.speed ?? 0.1) }
        }
        if let field = body.slates { try slates.apply(field.wrappedValue, path: path + "slates.") }
    }

    fileprivate static func read<Body, Value>(
        _ body: Body?,
        _ path: String,
        _ make: (Body, String) throws(StageError) -> Value
    ) throws(StageError) -> Value? {
        guard let body else { return nil }
        return try make(body, path)
    }
}

extension LayoutSettings.Background {
    fileprivate init(_ body: BackgroundResource, path: String) throws(StageError) {
        switch (body.colour, body.image) {
        case (let colour?, nil):
            guard let colour = LayoutSettings.Colour(colour) else {
                throw .invalidParameter("\(path).colour", "must be a colour such as #1a2b3c")
            }
            self = .colour(colour)
        case (nil, let image?):
            self = .image(try AssetReference(image, field: "\(path).image"))
        default:
            throw .invalidParameter(path, "must have either a colour or an image")
        }
    }
}

extension LayoutSettings.Colour {
    /// Parses `#rrggbb`.
    fileprivate init?(_ text: String) {
        guard text.utf8.count == 7, text.hasPrefix("#"), text.dropFirst().allSatisfy(\.isHexDigit),
            let number = UInt32(text.dropFirst(), radix: 16)
        else { return nil }
        self.init(
            red: UInt8(truncatingIfNeeded: number >> 16),
            green: UInt8(truncatingIfNeeded: number >> 8),
            blue: UInt8(truncatingIfNeeded: number)
        )
    }

    /// The colour as `#rrggbb`.
    fileprivate var text: String {
        "#"
            + [red, green, blue].map { value in
                (value < 16 ? "0" : "") + String(value, radix: 16)
            }.joined()
    }
}

extension LayoutSettings.Logo {
    fileprivate init(_ body: LogoResource, path: String) throws(StageError) {
        self.init(image: try AssetReference(body.image, field: "\(path).image"))
        position = try body.position?.known(in: "\(path).position") ?? position
        opacity = body.opacity ?? opacity
        height = body.height ?? height
    }
}

extension LayoutSettings.Slates {
    fileprivate mutating func apply(_ body: SlatesBody?, path: String) throws(StageError) {
        guard let body else {
            self = LayoutSettings.Slates()
            return
        }
        if let field = body.startingSoon { startingSoon = try Self.slate(field, path + "starting_soon") }
        if let field = body.beRightBack { beRightBack = try Self.slate(field, path + "be_right_back") }
        if let field = body.ended { ended = try Self.slate(field, path + "ended") }
    }

    private static func slate(
        _ field: ExplicitNull<SlateResource>,
        _ path: String
    ) throws(StageError) -> LayoutSettings.Slate? {
        guard let body = field.wrappedValue else { return nil }
        return LayoutSettings.Slate(
            text: body.text,
            image: try LayoutSettings.read(body.image, "\(path).image", AssetReference.init(_:field:)),
            music: try LayoutSettings.read(body.music, "\(path).music", AssetReference.init(_:field:))
        )
    }
}

// MARK: Encoding

extension BackgroundResource {
    init(_ background: LayoutSettings.Background) {
        switch background {
        case .colour(let colour): self.init(colour: colour.text)
        case .image(let image): self.init(image: image.text)
        }
    }
}

extension LogoResource {
    init(_ logo: LayoutSettings.Logo) {
        self.init(image: logo.image.text, position: .known(logo.position), opacity: logo.opacity, height: logo.height)
    }
}

extension SlatesResource {
    init(_ slates: LayoutSettings.Slates) {
        self.init(
            startingSoon: slates.startingSoon.map { SlateResource($0) },
            beRightBack: slates.beRightBack.map { SlateResource($0) },
            ended: slates.ended.map { SlateResource($0) }
        )
    }
}

extension SlateResource {
    fileprivate init(_ slate: LayoutSettings.Slate) {
        self.init(text: slate.text, image: slate.image?.text, music: slate.music?.text)
    }
}
