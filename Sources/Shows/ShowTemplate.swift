import Stage

/// A usual kind of show, by which a new one begins: its layout, its sound, and the texts of its slates.
public enum ShowTemplate: String, Sendable, Hashable, Codable, CaseIterable {
    /// Two hosts side by side.
    case interview
    /// Hosts of whom the speaker is large.
    case panel
    /// One host beside slides.
    case webinar
    /// One host who fills the picture.
    case oneHost = "one_host"
    /// Music: no loudness normalisation, which would flatten it.
    case music

    /// Applies the template to the settings of a show.
    public func apply(to settings: inout ShowSettings) {
        var room = settings.room
        switch self {
        case .interview:
            room.layout.kind = .grid
        case .panel:
            room.layout.kind = .spotlight
        case .webinar:
            room.layout.kind = .sidebar
        case .oneHost:
            room.layout.kind = .grid
        case .music:
            room.layout.kind = .spotlight
            room.sound.isLevelling = false
            room.sound.duck = .off
            room.program.audioBitrate = 192
        }
        room.layout.slates.startingSoon = LayoutSettings.Slate(text: "The show begins soon")
        room.layout.slates.ended = LayoutSettings.Slate(text: "Thank you for watching")
        settings.room = room
    }
}
