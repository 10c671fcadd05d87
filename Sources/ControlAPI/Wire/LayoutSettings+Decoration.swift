import GatewayModel
import Stage

extension LayoutSettings {
    /// Takes over what a request names of everything beside the tiles; null clears, the rest stays.
    ///
    /// - Throws: 3073 for a colour, corner or asset that is none.
    mutating func takeDecoration(_ body: LayoutBody, path: String) throws(StageError) {
        if let field = body.transitionMS { transition = field.wrappedValue ?? Self.usualTransition }
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
        if let field = body.slates { try slates.take(field.wrappedValue, path: path + "slates.") }
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
    /// Reads `#rrggbb`.
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

    /// `#rrggbb`.
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
        if let name = body.position {
            guard let position = Position(rawValue: name) else {
                let names = Position.allCases.map(\.rawValue).joined(separator: ", ")
                throw .invalidParameter("\(path).position", "must be one of \(names)")
            }
            self.position = position
        }
        opacity = body.opacity ?? opacity
        height = body.height ?? height
    }
}

extension LayoutSettings.Slates {
    fileprivate mutating func take(_ body: SlatesBody?, path: String) throws(StageError) {
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

// MARK: To the wire

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
        self.init(image: logo.image.text, position: logo.position.rawValue, opacity: logo.opacity, height: logo.height)
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
