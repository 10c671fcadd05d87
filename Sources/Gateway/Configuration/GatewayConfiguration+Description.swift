extension GatewayConfiguration {
    /// The effective values, a line each, as `check-config` prints them; private keys are named, never shown.
    public var lines: [String] {
        [
            "data.dir: \(dataDirectory)",
            "host: \(host)",
            "rtmp.port: \(rtmpPort)",
            "http.port: \(httpPort)",
            "admin.port: \(adminPort)",
            "rtmps.port: \(rtmpsPort.map(String.init) ?? "off")",
            "tls.certificate: \(tlsCertificate ?? "none")",
            "tls.key: \(tlsKey == nil ? "none" : "***")",
            "fanout.tick: \(fanOutTick)",
            "fanout.viewers: \(maximumViewers)",
            "outputs.allow_private: \(resolvedAllowsPrivateOutputs)",
            "room.idle: \(roomIdle)",
            "rooms.maximum: \(maximumRooms)",
            "rooms.ad_hoc: \(makesRoomsAdHoc)",
            "hosts.maximum: \(maximumHosts)",
            "livestreams.maximum: \(maximumLivestreams)",
            "limits.cpu_ceiling: \(processorCeiling)",
            "recordings.file_size: \(recordingFileSize)",
            "recordings.file_length: \(recordingFileLength)",
            "recordings.keep_size: \(recordingKeepSize)",
            "recordings.keep_age: \(recordingKeepAge)",
            "recordings.reserve: \(recordingReserve)",
            "viewership.keep_sessions: \(sessionKeepDays)",
            "viewership.keep_minutes: \(minuteKeepDays)",
            "viewership.regions: \(regionDatabase ?? "none")",
            "viewership.beats_port: \(beatsPort.map(String.init) ?? "off")",
            "auth.retired_keys: \(resolvedRetiredKeys)",
            "cors.origins: \(allowedOrigins.isEmpty ? "none" : allowedOrigins.joined(separator: ", "))",
            "threads: \(threads)",
            "log.level: \(logLevel)",
        ]
    }
}
