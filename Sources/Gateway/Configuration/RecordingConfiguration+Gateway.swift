import Recording

extension RecordingConfiguration {
    /// What the gateway's settings say of recordings.
    init(_ configuration: GatewayConfiguration) {
        self.init(
            folder: configuration.dataDirectory + "/recordings",
            fileBytes: configuration.recordingFileSize << 20,
            fileSeconds: Double(configuration.recordingFileLength),
            keptBytes: configuration.recordingKeepSize == 0 ? nil : configuration.recordingKeepSize << 20,
            keptSeconds: configuration.recordingKeepAge == 0 ? nil : Double(configuration.recordingKeepAge) * 3600,
            reservedBytes: configuration.recordingReserve << 20
        )
    }
}
