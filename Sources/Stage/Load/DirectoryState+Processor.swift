extension DirectoryState {
    /// Refuses a host for whom the machine has no processor time left; whoever is a host already is none more.
    ///
    /// - Parameters:
    ///   - reference: The room's name or sid; it need not be there yet.
    ///   - participant: The newcomer's identity, or the sid or identity of somebody who is there.
    /// - Throws: 53006.
    func requireProcessor(forHost participant: String, in reference: String, at now: Double) throws(StageError) {
        guard let budget = settings.processor else { return }
        let target = try? room(reference)
        if let target, let index = target.index(of: participant) ?? target.index(ofIdentity: participant),
            target.participants[index].isHost
        {
            return
        }
        let show = target?.show(at: now) ?? ProcessorBudget.Show(hosts: 0)
        guard budget.admitsHost(to: show, beside: shows(beside: target, at: now)) else {
            throw .serverBusy(retryAfter: ProcessorBudget.retryAfter)
        }
    }

    /// Refuses a program for which the machine has no processor time left, where none runs yet.
    ///
    /// - Throws: 53006.
    func requireProcessor(forProgramOf room: Room, at now: Double) throws(StageError) {
        guard let budget = settings.processor else { return }
        guard budget.admitsProgram(of: room.show(at: now), beside: shows(beside: room, at: now)) else {
            throw .serverBusy(retryAfter: ProcessorBudget.retryAfter)
        }
    }

    private func shows(beside room: Room?, at now: Double) -> [ProcessorBudget.Show] {
        rooms.values.filter { $0.sid != room?.sid && $0.status == .inProgress }.map { $0.show(at: now) }
    }
}

extension Room {
    /// What the room's program is to the processor: hosts who send, and what the mixer said last.
    fileprivate func show(at now: Double) -> ProcessorBudget.Show {
        let program = settings.program
        let isFresh = loadReportedAt.map { now - $0 < ProcessorBudget.freshness } ?? false
        let hosts = participants.filter(\.isHost)
        let renditions = (program.ladder?.renditions ?? []).map { rendition in
            Self.size(rendition.width, rendition.height, rendition.frameRate ?? program.frameRate)
        }
        return ProcessorBudget.Show(
            size: Self.size(program.width, program.height, program.frameRate),
            renditions: renditions.reduce(0, +),
            hosts: hosts.count { !$0.flows.isEmpty },
            expected: hosts.count { $0.flows.isEmpty && now - $0.modeSince < ProcessorBudget.arrival },
            measured: isFresh ? load?.cores : nil,
            level: isFresh ? load?.level ?? 0 : 0
        )
    }

    /// Pixels per second in those of 1280x720 at 30 pictures a second.
    private static func size(_ width: Int, _ height: Int, _ rate: FrameRate) -> Double {
        Double(width * height) * rate.perSecond / (1280 * 720 * 30)
    }
}
