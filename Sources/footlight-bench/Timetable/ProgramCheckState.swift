import Codecs
import Media
import Mixer
import Stage

/// What a check of a program has come to so far; see `ProgramCheck`.
struct ProgramCheckState: ~Copyable {
    /// Milliseconds from a host to the program: the way, the jitter's mean, and the jitter target.
    private static let delay = 330.0
    /// By how many a flash may be away from where that puts it: half a picture, and what an estimate is off by.
    private static let delayTolerance = 50.0

    let names: [String]
    var ledgers: [String: SyncLedger] = [:]
    /// Who is seen where, from which time on.
    var eras: [(from: Double, places: [ProgramCheck.Place])] = []
    var delays: ClosedRange<Double>?
    private(set) var pictures: Int64 = 0
    private(set) var sounds: Int64 = 0
    private(set) var faults: [String] = []
    private let configuration: ProgramConfiguration
    private let canvas: Canvas
    private var video: VideoDecoder?
    private var audio: AudioDecoder?
    private var ear: BeepWatch
    private var lastTimestamp = Int64.min
    private var firstSound: Int64?
    private var wasLight: [String: Bool] = [:]

    init(configuration: ProgramConfiguration, hosts: Int) throws(CodecError) {
        self.configuration = configuration
        names = (0..<hosts).map { "host-\($0)" }
        for name in names { ledgers[name] = SyncLedger(name: name) }
        canvas = try Canvas(width: configuration.width, height: configuration.height)
        ear = BeepWatch(frequencies: Array(1...hosts), amplitude: FlashClip.amplitude)
    }

    mutating func fault(_ text: String) {
        if faults.count < 10 { faults.append(text) }
    }

    /// The worst distance of a flash from its beep since the last call.
    mutating func takeWorst() -> Double {
        var worst = 0.0
        for name in names { worst = max(worst, ledgers[name]?.takeWorst() ?? 0) }
        return worst
    }

    mutating func take(_ packet: MediaPacket) throws(CodecError) {
        if packet.timestamp < lastTimestamp { fault("time ran backwards at \(packet.timestamp) ms") }
        lastTimestamp = packet.timestamp
        switch (packet.isVideo, packet.isConfiguration) {
        case (true, true): video = try VideoDecoder(configuration: packet)
        case (false, true): audio = try AudioDecoder(codec: .aac, configuration: packet)
        case (true, false): try takePicture(packet)
        case (false, false): try takeSound(packet)
        }
    }

    /// Pictures come one behind the other, each at its own time, and every group is as long as the others.
    private mutating func takePicture(_ packet: MediaPacket) throws(CodecError) {
        let rate = configuration.frameRate
        let exact = pictures * 1000 * Int64(rate.denominator) / Int64(rate.numerator)
        if packet.timestamp != exact { fault("picture \(pictures) is at \(packet.timestamp) ms, not at \(exact)") }
        let isFirst = pictures % Int64(configuration.pictureGroupLength) == 0
        if packet.isKeyPicture != isFirst { fault("a group of pictures does not fit at \(packet.timestamp) ms") }
        pictures += 1
        var shown: [Picture] = []
        try video?.decode(packet) { shown.append($0) }
        for picture in shown {
            try canvas.draw(picture, in: canvas.bounds)
            look(at: Double(picture.presentationTimestamp))
        }
    }

    /// Frames of 1024 samples come one behind the other; their times are rounded, and nothing adds up.
    private mutating func takeSound(_ packet: MediaPacket) throws(CodecError) {
        let first = firstSound ?? packet.timestamp
        firstSound = first
        let exact = Double(first) + Double(sounds) * 1024 / 48
        if abs(Double(packet.timestamp) - exact) > 1.01 {
            fault("sound \(sounds) is at \(packet.timestamp) ms, not at \(exact)")
        }
        sounds += 1
        var blocks: [AudioBlock] = []
        try audio?.decode(packet) { blocks.append($0) }
        for block in blocks {
            var found: [(Int, Double)] = []
            block.withChannels { left, _ in ear.take(left, at: block.timestamp) { found.append(($0, $1)) } }
            for (number, time) in found { ledgers[names[number]]?.beep(at: time) }
        }
    }

    private mutating func look(at time: Double) {
        while eras.count > 1, eras[1].from <= time {
            eras.removeFirst()
            wasLight = [:]
        }
        let places = eras.first.map { $0.from <= time ? $0.places : [] } ?? []
        for place in places {
            let name = place.host.name
            let luma = canvas.luma(x: place.x, y: place.y)
            if luma > 150, wasLight[name] == false {
                ledgers[name]?.flash(at: time, isAudible: place.isAudible)
                lookAtDelay(of: place.host, time)
            }
            if luma > 150 || luma < 100 { wasLight[name] = luma > 150 }
        }
        for name in names {
            let isShown = places.contains { $0.host.name == name }
            if !isShown { wasLight[name] = nil }
            ledgers[name]?.settle(at: time, isShown: isShown)
        }
    }

    /// However its clock runs, a host is neither more nor less behind than it was.
    private mutating func lookAtDelay(of host: TimetableHost, _ time: Double) {
        guard ledgers[host.name]?.isExcused(time) == false else { return }
        let distance = host.distance(of: time, delay: Self.delay)
        delays = delays.map { min($0.lowerBound, distance)...max($0.upperBound, distance) } ?? distance...distance
        if abs(distance) > Self.delayTolerance {
            fault("\(host.name) is \(distance.text(0)) ms from its place at \((time / 1000).text(2)) s")
        }
    }
}
