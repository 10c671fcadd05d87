import ViewershipStore

extension HistoryStoreConfiguration {
    /// As the operator has it.
    init(_ configuration: GatewayConfiguration, path: String) {
        self.init(
            path: path,
            sessionRetention: Double(configuration.sessionKeepDays) * 86_400,
            minuteRetention: Double(configuration.minuteKeepDays) * 86_400
        )
    }
}
