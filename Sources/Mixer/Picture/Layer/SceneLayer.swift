/// Something that lies over the tiles; two that are equal look the same.
enum SceneLayer: Sendable, Hashable {
    case lowerThird(LowerThird)
    /// Covers the tiles and the lower third.
    case slate(Slate)
    case logo(Logo)
    case ticker(Ticker)

    /// Those of a scene in painting order; a room's logo and its running text are seen over a slate too.
    static func layers(of scene: Scene) -> [SceneLayer] {
        var layers: [SceneLayer] = []
        if let slate = scene.slate {
            // Its music is not seen.
            layers.append(.slate(Slate(kind: slate.kind, text: slate.text, image: slate.image)))
        } else if let lowerThird = scene.decoration.lowerThird {
            layers.append(.lowerThird(lowerThird))
        }
        if let logo = scene.decoration.logo { layers.append(.logo(logo)) }
        if let ticker = scene.decoration.ticker { layers.append(.ticker(ticker)) }
        return layers
    }

    /// Whether the other one takes its place without anything coming or going: a text that merely runs faster or slower.
    func isSame(as other: SceneLayer) -> Bool {
        if case .ticker(let one) = self, case .ticker(let other) = other { return one.text == other.text }
        return self == other
    }

    /// What is painted first.
    var rank: Int {
        switch self {
        case .lowerThird: 0
        case .slate: 1
        case .logo: 2
        case .ticker: 3
        }
    }

    var isSlate: Bool { rank == 1 }

    var isLowerThird: Bool { rank == 0 }
}
