import Codecs

/// The card of a host without video: the avatar, or a disc with initials, and the name, on the tile's colour.
struct PersonCard: Sendable, Hashable, Codable {
    var name: String
    /// The asset shown in the disc; initials are shown without one, and while it is missing.
    var avatar: String?
    /// Pixels, even.
    var width: Int
    /// Pixels, even.
    var height: Int
    var theme: OverlayTheme = .dark

    /// The minimum height in pixels of a card that shows the name; on lower ones the tag does.
    static let minimumHeightWithName = 200

    func drawing(with images: OverlayImages = OverlayImages()) throws(CodecError) -> Drawing {
        var drawing = Drawing(width: width, height: height)
        let side = Double(min(width, height))
        let showsName = height >= Self.minimumHeightWithName
        let diameter = ((side * (showsName ? 0.42 : 0.56)) / 2).rounded() * 2
        let size = min(max(side * 0.075, 14), 72)
        let below = showsName ? size * 2.1 : 0
        let left = ((Double(width) - diameter) / 2).rounded()
        let top = ((Double(height) - diameter - below) / 2).rounded()
        let disc = DrawingBox(x: left, y: top, width: diameter, height: diameter)
        drawing.marks.append(.box(drawing.bounds, cornerRadius: 0, theme.tile))
        if let bitmap = try images[avatar]?.covering(width: Int(diameter), height: Int(diameter)) {
            drawing.marks.append(
                .image(bitmap, x: Int(left), y: Int(top), cornerRadius: diameter / 2, opacity: 1)
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

/// The initials and the disc colour of a host without an avatar.
enum Initials {
    /// Returns the first letters of the first and the last word; only the first letter for a single word, and for
    /// scripts without letter case, whose letters do not stand for words.
    static func of(_ name: String) -> String {
        let words = name.split { $0.isWhitespace }.compactMap { word in word.first { $0.isLetter || $0.isNumber } }
        guard let first = words.first else { return name.first { !$0.isWhitespace }.map(String.init) ?? "" }
        guard words.count > 1, let last = words.last, first.isCased, last.isCased else {
            return first.uppercased()
        }
        return first.uppercased() + last.uppercased()
    }

    /// Returns a colour on which white letters are readable; the same for a name in every process.
    static func colour(of name: String) -> RGBAColour {
        // FNV-1a: the standard library's hashes differ from run to run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return colours[Int((hash ^ hash >> 32) % UInt64(colours.count))]
    }

    private static let colours = [
        RGBAColour(red: 196, green: 69, blue: 54), RGBAColour(red: 176, green: 96, blue: 16),
        RGBAColour(red: 120, green: 120, blue: 24), RGBAColour(red: 48, green: 128, blue: 64),
        RGBAColour(red: 20, green: 128, blue: 128), RGBAColour(red: 40, green: 104, blue: 192),
        RGBAColour(red: 88, green: 84, blue: 208), RGBAColour(red: 136, green: 64, blue: 184),
        RGBAColour(red: 184, green: 52, blue: 128), RGBAColour(red: 96, green: 104, blue: 120),
    ]
}
