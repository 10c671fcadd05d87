import Codecs

/// Where everything that is painted is, and how one scene takes another's place.
///
/// Tiles that are in both scenes move from where they are, and grow or shrink with what is seen in them; those that are
/// new fade in, and those that are gone fade out in their place with the last picture they had; whoever keeps its place
/// does not move. The program's sample counter drives it, so the same scenes at the same samples look the same in every
/// run. A change in the middle of another one begins where things are at that moment.
struct Choreography {
    /// A tile, in its place or on its way.
    struct Actor {
        var place: TilePlan.Place
        var content = TileContent.absent
        var dress = TileDress.none
        /// Its dress in the colours before these, while they change.
        var formerDress: TileDress?
        var start: MotionFrame
        var fade = Fade.none
        /// It is in the last scene and not in this one.
        var isLeaving = false

        var end: MotionFrame { MotionFrame(place.rectangle, place.fit) }

        func frame(at amount: Double) -> MotionFrame { isLeaving ? start : start.moved(to: end, by: amount) }

        var isStill: Bool { !isLeaving && fade.isStill && start == end }
    }

    /// Something over the tiles.
    struct Veil {
        var layer: SceneLayer
        var art = LayerArt.none
        /// The sample at which it came, or took its present speed.
        var since: Int64 = 0
        /// Pixels that it was on its way then.
        var lead = 0
        var fade = Fade.none
        var isLeaving = false

        /// Where the copies of a running text are at `sample`.
        func places(of motion: TickerMotion, at sample: Int64) -> [Int] {
            motion.places(at: motion.picture(after: sample - since), lead: lead)
        }

        /// Takes another speed, from where its text is at `sample`.
        mutating func changeSpeed(to layer: SceneLayer, at sample: Int64) {
            if case .ticker(let ticker) = art {
                lead = ticker.motion.reach(at: ticker.motion.picture(after: sample - since), lead: lead)
                since = sample
            }
            self.layer = layer
        }
    }

    /// In painting order: those who leave lie below.
    private(set) var actors: [Actor] = []
    /// In painting order.
    private(set) var veils: [Veil] = []
    /// Nobody is on the way in or out.
    private(set) var isSettled = true
    private var passage = Passage()

    /// Whether anything moves or fades at `sample`.
    func isMoving(at sample: Int64) -> Bool { passage.isUnderWay(at: sample) }

    /// The picture that is all there is to see on a canvas of these bounds while nothing moves, if it is so.
    func lonePicture(on bounds: PixelRectangle) -> Picture? {
        guard veils.isEmpty, let top = actors.last, top.place.rectangle == bounds, top.dress.tag == nil,
            top.dress.badge == nil, top.content.look == PicturePresence.Look(dim: 0, card: 0)
        else { return nil }
        return top.content.picture
    }

    /// How far things are at `sample`: 0 to 1, slow at both ends.
    func amount(at sample: Int64) -> Double { passage.amount(at: sample) }

    /// Begins the way to `plan`.
    ///
    /// - Parameters:
    ///   - sample: When it begins.
    ///   - length: Samples it takes; 0 is at once.
    ///   - concealed: Hosts of whom nothing may be seen any more, not even on their way out.
    mutating func move(to plan: TilePlan, at sample: Int64, over length: Int64, concealed: Set<String> = []) {
        let amount = amount(at: sample)
        let slates = veils.filter { $0.layer.isSlate && $0.fade.opacity(at: amount) == 1 }
        moveVeils(to: plan.layers, at: sample, amount: amount)
        moveActors(to: plan.places, amount: amount, isCovered: !slates.isEmpty, concealed: concealed)
        let isStill = actors.allSatisfy(\.isStill) && veils.allSatisfy { $0.fade.isStill && !$0.isLeaving }
        passage = Passage(begin: sample, length: isStill ? 0 : length)
        isSettled = false
        if passage.length == 0 { settle() }
    }

    /// Takes over what is said of the tiles and who may be seen, when all places are as they were.
    mutating func reword(_ plan: TilePlan, concealed: Set<String>) {
        actors.removeAll { $0.isLeaving && concealed.contains($0.place.host) }
        let leaving = actors.count - plan.places.count
        for (index, place) in plan.places.enumerated() where index + leaving >= 0 {
            actors[index + leaving].place = place
        }
    }

    /// Lets go of what has left; to be called once nothing moves any more.
    mutating func settle() {
        isSettled = true
        actors.removeAll(where: \.isLeaving)
        veils.removeAll(where: \.isLeaving)
        for index in actors.indices {
            actors[index].start = actors[index].end
            actors[index].fade = .none
        }
        for index in veils.indices { veils[index].fade = .none }
    }

    /// Says whether all dresses change their colours now: what they were is faded from.
    mutating func changeColours(_ isChanging: Bool) {
        for index in actors.indices { actors[index].formerDress = isChanging ? actors[index].dress : nil }
    }

    mutating func show(_ content: TileContent, at index: Int) { actors[index].content = content }

    mutating func dress(_ dress: TileDress, at index: Int) { actors[index].dress = dress }

    mutating func paint(_ art: LayerArt, at index: Int) { veils[index].art = art }

    private mutating func moveActors(
        to places: [TilePlan.Place],
        amount: Double,
        isCovered: Bool,
        concealed: Set<String>
    ) {
        var old = actors
        let hasSlate = veils.contains { $0.layer.isSlate && !$0.isLeaving }
        var staying: [Actor?] = []
        for place in places {
            guard let index = old.firstIndex(where: { $0.place.host == place.host }) else {
                staying.append(nil)
                continue
            }
            let known = old.remove(at: index)
            var actor = Actor(place: place, start: known.frame(at: amount))
            actor.content = known.content
            actor.dress = known.dress
            actor.fade = Fade(start: known.fade.opacity(at: amount), end: 1)
            staying.append(actor)
        }
        // Nobody sees what lies under a slate: it is there at once when the slate goes.
        let torn = old.filter { concealed.contains($0.place.host) }
        let entered = zip(places, staying).map { place, actor -> Actor in
            if let actor { return actor }
            let replacesTorn = torn.contains { $0.frame(at: amount).pixels.contains(place.rectangle) }
            let fade = isCovered || replacesTorn ? Fade.none : Fade(start: 0, end: 1)
            return Actor(place: place, start: MotionFrame(place.rectangle, place.fit), fade: fade)
        }
        var leaving = old.filter { !concealed.contains($0.place.host) }
        for index in leaving.indices {
            let frame = leaving[index].frame(at: amount)
            let opacity = leaving[index].fade.opacity(at: amount)
            // What another picture fades in over has to stay, or the background would shine through both.
            let isReplaced = hasSlate || places.contains { $0.rectangle.contains(frame.pixels) }
            leaving[index].start = frame
            leaving[index].fade = Fade(start: opacity, end: isReplaced ? opacity : 0)
            leaving[index].isLeaving = true
        }
        actors = leaving + entered
    }

    private mutating func moveVeils(to layers: [SceneLayer], at sample: Int64, amount: Double) {
        var next: [Veil] = []
        for var veil in veils where !layers.contains(where: { veil.layer.isSame(as: $0) }) {
            let opacity = veil.fade.opacity(at: amount)
            let isReplaced = veil.layer.isSlate && layers.contains(where: \.isSlate)
            veil.fade = Fade(start: opacity, end: isReplaced ? opacity : 0)
            // Of two texts in one place the second waits until the first has gone, or both would be read at once.
            if veil.layer.isLowerThird, layers.contains(where: \.isLowerThird) { veil.fade.part = .firstHalf }
            veil.isLeaving = true
            next.append(veil)
        }
        let isAfterAnother = next.contains { $0.layer.isLowerThird && $0.fade.part == .firstHalf && !$0.fade.isStill }
        for layer in layers {
            if var known = veils.first(where: { $0.layer.isSame(as: layer) }) {
                if known.layer != layer { known.changeSpeed(to: layer, at: sample) }
                known.fade = Fade(start: known.fade.opacity(at: amount), end: 1)
                known.isLeaving = false
                next.append(known)
            } else {
                var fade = Fade(start: 0, end: 1)
                if layer.isLowerThird, isAfterAnother { fade.part = .secondHalf }
                next.append(Veil(layer: layer, since: sample, fade: fade))
            }
        }
        // Stable: those who leave stay below those of their own kind that come.
        veils = next.enumerated().sorted { ($0.element.layer.rank, $0.offset) < ($1.element.layer.rank, $1.offset) }
            .map(\.element)
    }
}
