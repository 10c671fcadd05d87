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
        let others = rooms.values.filter { $0.sid != target?.sid && $0.status == .inProgress }
        let show = target?.show(at: now) ?? ProcessorBudget.Show(hosts: 0)
        guard budget.admitsHost(to: show, beside: others.map { $0.show(at: now) }) else {
            throw .serverBusy(retryAfter: ProcessorBudget.retryAfter)
        }
    }
}

extension Room {
    /// What the room's program is to the processor: hosts who send, and what the mixer said last.
    fileprivate func show(at now: Double) -> ProcessorBudget.Show {
        let program = settings.program
        let pixels = Double(program.width * program.height) * program.frameRate.perSecond
        let isFresh = loadReportedAt.map { now - $0 < ProcessorBudget.freshness } ?? false
        return ProcessorBudget.Show(
            size: pixels / (1280 * 720 * 30),
            hosts: participants.count { $0.isHost && !$0.flows.isEmpty },
            measured: isFresh ? load?.cores : nil
        )
    }
}
