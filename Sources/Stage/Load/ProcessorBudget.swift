/// The processor budget of all rooms' mixers, and the admission of hosts and programs.
///
/// The cost of a running room is what its mixer reports. The cost of a new host comes from a rough model of composing,
/// encoding and decoding, corrected by the ratio of reported to modelled costs. Admitted hosts that do not send yet
/// count as if they did. While a mixer drops frames for lack of time and the machine may be the cause, no host is
/// admitted, whatever the numbers say.
public struct ProcessorBudget: Sendable, Equatable {
    /// A room as input of the model.
    public struct RoomLoad: Sendable, Equatable {
        /// The program's size in units of 1280x720 at 30 frames per second.
        public var size: Double
        /// The same of all renditions together.
        public var renditions: Double
        /// Hosts that send media.
        public var hosts: Int
        /// Hosts that were admitted recently and do not send yet.
        public var expected: Int
        /// The cores in use by its mixer; nil if unknown, then a room without hosts costs nothing.
        public var measured: Double?
        /// The degradation level; see `MixerLoad.level`.
        public var level: Int

        /// Creates a room's load.
        public init(
            size: Double = 1,
            renditions: Double = 0,
            hosts: Int,
            expected: Int = 0,
            measured: Double? = nil,
            level: Int = 0
        ) {
            self.size = size
            self.renditions = renditions
            self.hosts = hosts
            self.expected = expected
            self.measured = measured
            self.level = level
        }
    }

    // Measured with `deploy/bench mixer` on a server of two cores: 0.67 cores with four hosts of 1280x720 and 1.08 with
    // nine, which is 0.33 for the program and 0.083 for each host; and a little for reading the hosts' feeds.

    /// Cores for composing and encoding a program of 1280x720 at 30 frames per second.
    static let perProgram = 0.3
    /// Cores for encoding a rendition of that size.
    static let perRendition = 0.2
    /// Cores for reading and decoding a host's video and audio.
    static let perHost = 0.1
    /// The range of the model's correction.
    static let correction = 0.25...4.0
    /// Seconds after which a mixer without reports counts as stopped.
    static let reportTimeout = 5.0
    /// Seconds within which an admitted host is expected to send.
    static let arrivalTimeout = 60.0
    /// The degradation level from which a program drops frames.
    static let degradedLevel = 3
    /// The part of the budget below which a room's degradation has other causes: one thread is its limit.
    static let sharedStrainThreshold = 0.5
    /// Seconds after which a refused host may retry.
    static let retryAfter = 10

    /// The cores that all mixers together may use.
    public var cores: Double

    /// Creates a budget.
    ///
    /// - Parameters:
    ///   - cores: The cores of the machine.
    ///   - ceiling: The part of them for mixers, 0 to 1; the rest is for the audience and the system.
    public init(cores: Int, ceiling: Double) {
        self.cores = Double(max(cores, 1)) * ceiling
    }

    /// Whether a room may have one more host.
    ///
    /// - Parameters:
    ///   - room: The room's current load.
    ///   - others: The loads of all other rooms.
    public func admitsHost(to room: RoomLoad, beside others: [RoomLoad]) -> Bool {
        guard room.level < Self.degradedLevel else { return false }
        let hosts = room.hosts + room.expected
        return admits(Self.model(room, hosts: hosts + 1) - Self.model(room, hosts: hosts), to: room, beside: others)
    }

    /// Whether a room's program may start; without hosts its slate is composed and encoded, too.
    ///
    /// A running program causes no further cost, and one with hosts was counted when they were admitted.
    ///
    /// - Parameters:
    ///   - room: The room's current load.
    ///   - others: The loads of all other rooms.
    public func admitsProgram(of room: RoomLoad, beside others: [RoomLoad]) -> Bool {
        guard room.measured == nil, room.hosts + room.expected == 0 else { return true }
        return admits(Self.program(room), to: room, beside: others)
    }

    /// The refusal of a program or host, with the cores that all rooms use.
    fileprivate func refusal(_ loads: [RoomLoad]) -> StageError {
        .processorExhausted(
            used: loads.compactMap(\.measured).reduce(0, +),
            allowed: cores,
            retryAfter: Self.retryAfter
        )
    }

    /// Whether the budget admits a modelled cost in cores.
    private func admits(_ more: Double, to room: RoomLoad, beside others: [RoomLoad]) -> Bool {
        let scale = Self.scale(of: others + [room])
        func cost(_ room: RoomLoad) -> Double {
            let coming = Self.model(room, hosts: room.hosts + room.expected)
            guard let measured = room.measured else { return coming * scale }
            return measured + (coming - Self.model(room, hosts: room.hosts)) * scale
        }
        let present = others.reduce(cost(room)) { $0 + cost($1) }
        if present > cores * Self.sharedStrainThreshold, others.contains(where: { $0.level >= Self.degradedLevel }) {
            return false
        }
        return present + more * scale <= cores
    }

    /// Returns the modelled cost with a number of hosts.
    private static func model(_ room: RoomLoad, hosts: Int) -> Double {
        hosts == 0 ? 0 : program(room) + perHost * Double(hosts)
    }

    /// Returns the modelled cost of composing and encoding.
    private static func program(_ room: RoomLoad) -> Double {
        perProgram * room.size + perRendition * room.renditions
    }

    /// Returns the ratio of reported to modelled costs.
    private static func scale(of rooms: [RoomLoad]) -> Double {
        let known = rooms.filter { $0.hosts > 0 && ($0.measured ?? 0) > 0 }
        let modelled = known.reduce(0) { $0 + model($1, hosts: $1.hosts) }
        guard modelled > 0 else { return 1 }
        let measured = known.reduce(0) { $0 + ($1.measured ?? 0) }
        return min(max(measured / modelled, correction.lowerBound), correction.upperBound)
    }
}

extension DirectoryState {
    /// Checks that the processor budget admits a host; a host that is present is always admitted.
    ///
    /// - Parameters:
    ///   - reference: The room's name or sid; the room may not exist yet.
    ///   - participant: The newcomer's identity, or the sid or identity of a participant.
    /// - Throws: 53006.
    func requireProcessor(forHost participant: String, in reference: String, at now: Double) throws(StageError) {
        guard let budget = settings.processor else { return }
        let target = try? room(reference)
        if let target, let index = target.index(of: participant) ?? target.index(ofIdentity: participant),
            target.participants[index].isHost
        {
            return
        }
        let processorLoad = target?.processorLoad(at: now) ?? ProcessorBudget.RoomLoad(hosts: 0)
        let others = otherLoads(beside: target, at: now)
        guard budget.admitsHost(to: processorLoad, beside: others) else {
            throw budget.refusal(others + [processorLoad])
        }
    }

    /// Checks that the processor budget admits a program, unless it runs already.
    ///
    /// - Throws: 53006.
    func requireProcessor(forProgramOf room: Room, at now: Double) throws(StageError) {
        guard let budget = settings.processor else { return }
        let (load, others) = (room.processorLoad(at: now), otherLoads(beside: room, at: now))
        guard budget.admitsProgram(of: load, beside: others) else { throw budget.refusal(others + [load]) }
    }

    private func otherLoads(beside room: Room?, at now: Double) -> [ProcessorBudget.RoomLoad] {
        rooms.values.filter { $0.sid != room?.sid && $0.status == .inProgress }.map { $0.processorLoad(at: now) }
    }
}

extension Room {
    /// The processor load of the room's program: hosts that send, and the last report of the mixer.
    fileprivate func processorLoad(at now: Double) -> ProcessorBudget.RoomLoad {
        let program = settings.program
        let isFresh = loadReportedAt.map { now - $0 < ProcessorBudget.reportTimeout } ?? false
        let hosts = participants.filter(\.isHost)
        let renditions = (program.ladder?.renditions ?? []).map { rendition in
            Self.size(rendition.width, rendition.height, rendition.frameRate ?? program.frameRate)
        }
        return ProcessorBudget.RoomLoad(
            size: Self.size(program.width, program.height, program.frameRate),
            renditions: renditions.reduce(0, +),
            hosts: hosts.count { !$0.flows.isEmpty },
            expected: hosts.count { $0.flows.isEmpty && now - $0.modeSince < ProcessorBudget.arrivalTimeout },
            measured: isFresh ? load?.cores : nil,
            level: isFresh ? load?.level ?? 0 : 0
        )
    }

    /// Returns a size in units of 1280x720 at 30 frames per second.
    private static func size(_ width: Int, _ height: Int, _ rate: FrameRate) -> Double {
        Double(width * height) * rate.perSecond / (1280 * 720 * 30)
    }
}
