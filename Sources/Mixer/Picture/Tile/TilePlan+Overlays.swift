import Codecs

extension TilePlan.Place {
    /// What has to be drawn for the tile: a tag or a badge only where there is something to say.
    func overlays(theme: OverlayTheme) -> (card: Overlay, tag: Overlay?, badge: Overlay?) {
        let name = words.showsName && !words.name.isEmpty ? words.name : nil
        // In a strip there is little room: a badge says the one thing that matters.
        let isMicrophoneOn = words.showsMicrophone && !words.isInStrip ? words.isMicOn : nil
        let hasTag = name != nil || isMicrophoneOn != nil
        let hasBadge = words.isInStrip && words.showsMicrophone && !words.isMicOn
        let (width, height) = (rectangle.width, rectangle.height)
        let tag = NameTag(
            name: name,
            isMicrophoneOn: isMicrophoneOn,
            tileWidth: width,
            tileHeight: height,
            theme: theme
        )
        return (
            card: .personCard(
                PersonCard(name: words.name, avatar: words.avatar, width: width, height: height, theme: theme)
            ),
            tag: hasTag ? .nameTag(tag) : nil,
            badge: hasBadge ? .muteBadge(MuteBadge(tileHeight: height, theme: theme)) : nil
        )
    }
}
