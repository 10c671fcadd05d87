import Codecs

/// The colours of name tags, cards, slates and lower thirds.
struct OverlayTheme: Sendable, Hashable, Codable {
    /// The canvas background.
    var background: RGBAColour
    /// A tile without video.
    var tile: RGBAColour
    /// Text on the background and on tiles.
    var text: RGBAColour
    /// Secondary text.
    var faintText: RGBAColour
    /// The panel behind text over video.
    var panel: RGBAColour
    /// Text on a panel.
    var panelText: RGBAColour
    /// Secondary text on a panel.
    var faintPanelText: RGBAColour
    /// The accent colour.
    var accent: RGBAColour
    /// A microphone that is on.
    var microphoneOn: RGBAColour
    /// A microphone that is off.
    var microphoneOff: RGBAColour

    /// Derives the theme from a scene's colours: light text on dark colours, dark text on light ones.
    init(_ colours: SceneColours) {
        self = colours.emptyTile.y > 128 ? .light : .dark
        background = RGBAColour(colours.background)
        tile = RGBAColour(colours.emptyTile)
        // The background may have any colour, also one on which the theme's text is unreadable.
        text = Self.readable(on: background)
        faintText = text.with(opacity: 0.7)
    }

    /// Returns black or white, whichever is more readable on `colour`.
    static func readable(on colour: RGBAColour) -> RGBAColour {
        YUVColour(red: colour.red, green: colour.green, blue: colour.blue).y > 140
            ? RGBAColour(red: 24, green: 24, blue: 28) : RGBAColour(red: 246, green: 246, blue: 248)
    }

    private init(
        _ colours: SceneColours,
        text: RGBAColour,
        panel: RGBAColour,
        accent: RGBAColour,
        microphoneOn: RGBAColour,
        microphoneOff: RGBAColour
    ) {
        background = RGBAColour(colours.background)
        tile = RGBAColour(colours.emptyTile)
        self.text = text
        faintText = text.with(opacity: 0.7)
        self.panel = panel
        panelText = text
        faintPanelText = text.with(opacity: 0.75)
        self.accent = accent
        self.microphoneOn = microphoneOn
        self.microphoneOff = microphoneOff
    }

    /// Light text on nearly black; the default.
    static let dark = OverlayTheme(
        .dark,
        text: RGBAColour(red: 246, green: 246, blue: 248),
        panel: .black.with(opacity: 0.5),
        accent: RGBAColour(red: 86, green: 140, blue: 255),
        microphoneOn: RGBAColour(red: 72, green: 214, blue: 112),
        microphoneOff: RGBAColour(red: 255, green: 82, blue: 74)
    )

    /// Dark text on nearly white.
    static let light = OverlayTheme(
        .light,
        text: RGBAColour(red: 24, green: 24, blue: 28),
        panel: .white.with(opacity: 0.75),
        accent: RGBAColour(red: 28, green: 92, blue: 230),
        microphoneOn: RGBAColour(red: 16, green: 140, blue: 56),
        microphoneOff: RGBAColour(red: 206, green: 36, blue: 30)
    )
}
