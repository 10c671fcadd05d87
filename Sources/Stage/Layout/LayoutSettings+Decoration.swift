/// What is seen beside the tiles.
extension LayoutSettings {
    /// The addresses on the web that pictures and music come from.
    public var addresses: Set<String> {
        var references = [logo?.image]
        if case .image(let image) = background { references.append(image) }
        for slate in [slates.startingSoon, slates.beRightBack, slates.ended] {
            references += [slate?.image, slate?.music]
        }
        return Set(references.compactMap { $0 }.filter { $0.name == nil }.map(\.text))
    }

    /// What lies behind the tiles.
    public enum Background: Sendable, Hashable, Codable {
        /// One colour, in place of the theme's.
        case colour(Colour)
        /// A picture that fills the canvas.
        case image(AssetReference)
    }

    /// A colour of the canvas, in 8 bits each of red, green and blue.
    public struct Colour: Sendable, Hashable, Codable {
        /// 0 to 255.
        public var red: UInt8
        /// 0 to 255.
        public var green: UInt8
        /// 0 to 255.
        public var blue: UInt8

        /// Makes a colour.
        public init(red: UInt8, green: UInt8, blue: UInt8) {
            self.red = red
            self.green = green
            self.blue = blue
        }
    }

    /// A picture over a corner of the canvas.
    public struct Logo: Sendable, Hashable, Codable {
        /// The corners, as the API names them.
        public enum Position: String, Sendable, Hashable, Codable, CaseIterable {
            case topLeft = "top_left"
            case topRight = "top_right"
            case bottomLeft = "bottom_left"
            case bottomRight = "bottom_right"
        }

        /// The picture.
        public var image: AssetReference
        /// Where it lies.
        public var position: Position
        /// 0, not seen, to 1, nothing seen through it.
        public var opacity: Double
        /// Its height as a part of the canvas's, 0.02 to 0.5; the width follows the picture's shape.
        public var height: Double

        /// Makes a logo; what is not named has its default.
        public init(image: AssetReference, position: Position = .topRight, opacity: Double = 1, height: Double = 0.1) {
            self.image = image
            self.position = position
            self.opacity = opacity
            self.height = height
        }
    }

    /// Two lines over the lower part of the canvas, up to 500 characters each.
    public struct LowerThird: Sendable, Hashable, Codable {
        /// The larger line.
        public var title: String
        /// The smaller line below it.
        public var subtitle: String?

        /// Makes a lower third.
        public init(title: String, subtitle: String? = nil) {
            self.title = title
            self.subtitle = subtitle
        }
    }

    /// Text that runs along the lower edge of the canvas.
    public struct Ticker: Sendable, Hashable, Codable {
        /// One line, up to 2000 characters and 16000 bytes.
        public var text: String
        /// Canvas widths per second, 0.01 to 1.
        public var speed: Double

        /// Makes a ticker.
        public init(text: String, speed: Double = 0.1) {
            self.text = text
            self.speed = speed
        }
    }

    /// What the program is at a time when it shows nobody.
    public struct Slate: Sendable, Hashable, Codable {
        /// What it says, up to 500 characters; nil says what its occasion does.
        public var text: String?
        /// The picture that fills the canvas; nil shows the background.
        public var image: AssetReference?
        /// What is played; nil is silence.
        public var music: AssetReference?

        /// Makes a slate.
        public init(text: String? = nil, image: AssetReference? = nil, music: AssetReference? = nil) {
            self.text = text
            self.image = image
            self.music = music
        }
    }

    /// A slate for each occasion; nil is the plain one.
    public struct Slates: Sendable, Hashable, Codable {
        /// Before the show.
        public var startingSoon: Slate?
        /// Backstage in the middle of a show, and while no host is there.
        public var beRightBack: Slate?
        /// After the show.
        public var ended: Slate?

        /// Makes slates; the plain ones by default.
        public init(startingSoon: Slate? = nil, beRightBack: Slate? = nil, ended: Slate? = nil) {
            self.startingSoon = startingSoon
            self.beRightBack = beRightBack
            self.ended = ended
        }
    }
}
