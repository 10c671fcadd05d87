import Codecs
import Media
import Mixer
import Stage

/// A program on a virtual clock, whose hosts join and leave by a repeated timetable of ten minutes.
final class TimetableShow {
    /// The length of the timetable in milliseconds.
    private static let round = 600_000.0
    /// The clock steps of the first hosts in even hours, in milliseconds; odd hours reverse them.
    private static let clockSteps: [Int64] = [3_600_000, -10_000]

    private let configuration: ProgramConfiguration
    private let renderer: ProgramRenderer
    private let check: ProgramCheck
    private var hosts: [TimetableHost]
    private var events: [(time: Double, event: () -> Void)] = []
    /// The hosts with a tile, in order.
    private var shown: [Int] = []
    private var muted: Set<Int> = []

    /// - Parameter hosts: 3 to 5.
    init(hosts count: Int, configuration: ProgramConfiguration, check: ProgramCheck) throws {
        self.configuration = configuration
        self.check = check
        renderer = try ProgramRenderer(configuration: configuration, encoderOptions: "") { check.receive($0) }
        let clocks = [200.0, -200, 120, -60, 0]
        // The second host's timestamps wrap at 32 bits after twenty minutes.
        let origins: [Int64] = [0, (1 << 32) - 1_200_000, 1 << 24, 5_000_000, 0]
        hosts = try (0..<min(max(count, 3), 5)).map { number in
            try TimetableHost(
                "host-\(number)",
                frequency: number + 1,
                partsPerMillion: clocks[number],
                origin: origins[number]
            )
        }
    }

    var statistics: MixerStatistics { renderer.statistics }

    /// Advances the time to `end`, in milliseconds, and calls `everyMinute` at each minute.
    func run(to end: Double, everyMinute: (Int) throws -> Void) throws {
        for number in 0..<Int((end / Self.round).rounded(.up)) { plan(number) }
        events.sort { $0.time < $1.time }
        var minute = 1
        var next = 0
        while true {
            let arrivals = hosts.indices.compactMap { index in hosts[index].nextArrival.map { (index, $0) } }
            let first = arrivals.min { $0.1 < $1.1 }
            let eventTime = next < events.count ? events[next].time : .infinity
            let time = min(first?.1 ?? .infinity, eventTime, Double(minute) * 60_000)
            guard time < end else { break }
            renderer.advance(to: Self.moment(time))
            if time == eventTime {
                events[next].event()
                next += 1
            } else if time == Double(minute) * 60_000 {
                try everyMinute(minute)
                minute += 1
            } else if let first {
                hosts[first.0].deliver()
            }
        }
        renderer.advance(to: Self.moment(end))
    }

    /// Adds the events of one repetition of the timetable.
    private func plan(_ number: Int) {
        let start = Double(number) * Self.round
        func at(_ second: Double, _ event: @escaping () -> Void) { events.append((start + second * 1000, event)) }
        let time = { (second: Double) in start + second * 1000 }
        let all = Array(hosts.indices)
        let guests = Array(all.dropFirst(2))
        if number == 0 {
            at(0) { [self] in enter([0, 1], at: 0) }
        }
        for (place, guest) in guests.enumerated() {
            let second = 20 + 40 * Double(place)
            at(second) { [self] in enter([guest], at: time(second)) }
            let last = 480 + 20 * Double(place)
            at(last) { [self] in leave(guest, at: time(last)) }
        }
        for (second, isMuted) in [(180.0, true), (200, false)] {
            at(second) { [self] in mute(1, isMuted, at: time(second)) }
        }
        at(220) { [self] in show(all.reversed(), at: time(220), transition: 300) }
        at(250) { [self] in show([0], at: time(250), transition: 300) }
        at(280) { [self] in show(all, at: time(280), transition: 0) }
        at(320) { [self] in
            hosts[2].stall(time(320)..<time(332))
            check.ignore(hosts[2].name, time(320)..<time(336))
        }
        // Once an hour, in its first repetition.
        guard number % 6 == 0 else { return }
        for (host, step) in Self.clockSteps.enumerated() {
            let second = 400 + 20 * Double(host)
            at(second) { [self] in
                hosts[host].stepClock(number / 6 % 2 == 0 ? step : -step)
                check.ignore(hosts[host].name, time(second)..<time(second) + 2000)
            }
        }
    }

    private func enter(_ guests: [Int], at time: Double) {
        for guest in guests {
            hosts[guest].join(renderer.addHost(hosts[guest].name), at: time)
            check.ignore(hosts[guest].name, time..<time + 3000)
        }
        show(shown + guests, at: time, transition: 300)
    }

    private func leave(_ guest: Int, at time: Double) {
        show(shown.filter { $0 != guest }, at: time, transition: 300)
        renderer.removeHost(hosts[guest].name)
        hosts[guest].leave()
    }

    private func mute(_ host: Int, _ isMuted: Bool, at time: Double) {
        if isMuted { muted.insert(host) } else { muted.remove(host) }
        show(shown, at: time, transition: 0)
    }

    /// Shows the hosts in this order, with the audio of all that are on air and not muted.
    private func show(_ requested: [Int], at time: Double, transition: Int) {
        shown = requested.filter { hosts[$0].isOnAir }
        let rectangles = GridLayout.rectangles(
            count: shown.count,
            width: configuration.width,
            height: configuration.height
        )
        let tiles = zip(shown, rectangles).enumerated().map { position, place in
            Tile(
                position: position,
                participantSID: hosts[place.0].name,
                source: .camera,
                rectangle: place.1,
                scaleMode: .fill,
                label: hosts[place.0].name,
                isMicOn: !muted.contains(place.0)
            )
        }
        let audible = hosts.indices.filter { hosts[$0].isOnAir && !muted.contains($0) }
        // Beeps are detected by level; loudness normalization has its own tests.
        renderer.apply(
            Scene(
                tiles: tiles,
                audible: Set(audible.map { hosts[$0].name }),
                transition: transition,
                audio: AudioScene(isLevelling: false)
            )
        )
        let expected = zip(shown, rectangles).map { host, tile in
            ProgramCheck.ExpectedTile(
                host: hosts[host],
                // Clear of name labels and badges.
                x: tile.x + tile.width * 3 / 4,
                y: tile.y + tile.height / 4,
                isAudible: !muted.contains(host)
            )
        }
        check.show(expected, from: time)
    }

    private static func moment(_ milliseconds: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: Int64(milliseconds * 1e6))
    }
}
