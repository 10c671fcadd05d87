import Codecs

/// What stands for a host without a picture: the avatar, or a disc with initials, and the name, on the tile's colour.
struct PersonCard: Sendable, Hashable, Codable {
    var name: String
    /// The asset shown in the disc; initials are shown without one, and as long as it is not there.
    var avatar: String?
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    var theme: OverlayTheme = .dark

    /// Below this many pixels down the name is left to the tag.
    static let leastHeightWithName = 200

    func drawing(with images: OverlayImages = OverlayImages()) throws(CodecError) -> Drawing {
        var drawing = Drawing(width: width, height: height)
        let side = Double(min(width, height))
        let showsName = height >= Self.leastHeightWithName
        let diameter = ((side * (showsName ? 0.42 : 0.56)) / 2).rounded() * 2
        let size = min(max(side * 0.075, 14), 72)
        let below = showsName ? size * 2.1 : 0
        let left = ((Double(width) - diameter) / 2).rounded()
        let top = ((Double(height) - diameter - below) / 2).rounded()
        let disc = DrawingBox(x: left, y: top, width: diameter, height: diameter)
        drawing.marks.append(.box(drawing.bounds, cornerRadius: 0, theme.tile))
        if let picture = try images[avatar]?.covering(width: Int(diameter), height: Int(diameter)) {
            drawing.marks.append(
                .image(picture, x: Int(left), y: Int(top), cornerRadius: diameter / 2, opacity: 1)
            )
        } else {
            drawing.marks.append(.disc(disc, Initials.colour(of: name)))
            let style = TextStyle(size: diameter * 0.4, weight: .bold, colour: .white, alignment: .centre)
            drawing.marks.append(.text(Initials.of(name), style, disc))
        }
        if showsName {
            let style = TextStyle(
                size: size,
                weight: .medium,
                colour: OverlayTheme.readable(on: theme.tile),
                alignment: .centre
            )
            let margin = Double(width) * 0.06
            let box = DrawingBox(
                x: margin,
                y: top + diameter,
                width: Double(width) - 2 * margin,
                height: below * 1.1
            )
            drawing.marks.append(.text(name, style, box))
        }
        return drawing
    }
}
