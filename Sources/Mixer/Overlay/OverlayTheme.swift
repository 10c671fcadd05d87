import Codecs

/// The colours of names, cards, slates and titles.
struct OverlayTheme: Sendable, Hashable, Codable {
    /// Behind everything.
    var background: RGBAColour
    /// A tile whose host has no picture.
    var tile: RGBAColour
    /// Letters on the background and on tiles.
    var text: RGBAColour
    /// Letters that say less.
    var faintText: RGBAColour
    /// Behind the letters over a picture.
    var panel: RGBAColour
    /// Letters on a panel.
    var panelText: RGBAColour
    /// Letters on a panel that say less.
    var faintPanelText: RGBAColour
    /// What draws the eye.
    var accent: RGBAColour
    /// A microphone that is heard.
    var microphoneOn: RGBAColour
    /// A microphone that is not heard.
    var microphoneOff: RGBAColour

    /// What goes with the colours of a scene: light letters on dark ones, dark letters on light ones.
    init(_ colours: SceneColours) {
        self = colours.emptyTile.y > 128 ? .light : .dark
        background = RGBAColour(colours.background)
        tile = RGBAColour(colours.emptyTile)
        // The background may have any colour, also one that its theme's letters cannot be read on.
        text = Self.readable(on: background)
        faintText = text.with(opacity: 0.7)
    }

    /// Black or white, whichever is seen better on `colour`.
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

    /// Light letters on nearly black; what a program has unless something else is asked for.
    static let dark = OverlayTheme(
        .dark,
        text: RGBAColour(red: 246, green: 246, blue: 248),
        panel: .black.with(opacity: 0.5),
        accent: RGBAColour(red: 86, green: 140, blue: 255),
        microphoneOn: RGBAColour(red: 72, green: 214, blue: 112),
        microphoneOff: RGBAColour(red: 255, green: 82, blue: 74)
    )

    /// Dark letters on nearly white.
    static let light = OverlayTheme(
        .light,
        text: RGBAColour(red: 24, green: 24, blue: 28),
        panel: .white.with(opacity: 0.75),
        accent: RGBAColour(red: 28, green: 92, blue: 230),
        microphoneOn: RGBAColour(red: 16, green: 140, blue: 56),
        microphoneOff: RGBAColour(red: 206, green: 36, blue: 30)
    )
}
