import FootlightClient

extension ClientClock {
    /// A clock that runs so many times as fast.
    func running(_ factor: Double) -> ClientClock {
        let start = now()
        return ClientClock(
            now: { (self.now() - start) * factor },
            sleep: { try await self.sleep($0 / factor) },
            chance: chance
        )
    }
}
